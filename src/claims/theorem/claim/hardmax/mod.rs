//! Hardmax and convex layers.

use super::Topic;

pub mod fw_collapse;
pub mod fw_exit_time;
pub mod fw_negative;
pub mod fw_negative_printed;
pub mod fw_origin_printed;
pub mod fw_solved;
pub mod fw_speed_printed;
pub mod hm_followers;
pub mod hm_leaders;
pub mod hm_localmax_hull;
pub mod hm_localmax_leaders_folklore;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "hardmax",
    title: "Hardmax and convex layers",
    page: "",
    claims: &[
        &fw_collapse::ENTRY,
        &fw_exit_time::ENTRY,
        &fw_negative::ENTRY,
        &fw_negative_printed::ENTRY,
        &fw_origin_printed::ENTRY,
        &fw_solved::ENTRY,
        &fw_speed_printed::ENTRY,
        &hm_followers::ENTRY,
        &hm_leaders::ENTRY,
        &hm_localmax_hull::ENTRY,
        &hm_localmax_leaders_folklore::ENTRY,
    ],
};
