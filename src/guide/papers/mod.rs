//! The papers of the programme, one page each, made from the citations of what is registered: `metastable explain NUMBER` prints the page, with
//! `--markdown` as it stands here, and a test keeps it current.

#[doc = include_str!("1211.5063.md")]
pub mod arxiv_1211_5063 {}

#[doc = include_str!("1406.1078.md")]
pub mod arxiv_1406_1078 {}

#[doc = include_str!("1409.0473.md")]
pub mod arxiv_1409_0473 {}

#[doc = include_str!("1607.06450.md")]
pub mod arxiv_1607_06450 {}

#[doc = include_str!("1706.03762.md")]
pub mod arxiv_1706_03762 {}

#[doc = include_str!("2006.04710.md")]
pub mod arxiv_2006_04710 {}

#[doc = include_str!("2103.03404.md")]
pub mod arxiv_2103_03404 {}

#[doc = include_str!("2104.09864.md")]
pub mod arxiv_2104_09864 {}

#[doc = include_str!("2108.12409.md")]
pub mod arxiv_2108_12409 {}

#[doc = include_str!("2110.11773.md")]
pub mod arxiv_2110_11773 {}

#[doc = include_str!("2206.06929.md")]
pub mod arxiv_2206_06929 {}

#[doc = include_str!("2305.05465.md")]
pub mod arxiv_2305_05465 {}

#[doc = include_str!("2312.10794.md")]
pub mod arxiv_2312_10794 {}

#[doc = include_str!("2312.14820.md")]
pub mod arxiv_2312_14820 {}

#[doc = include_str!("2405.18273.md")]
pub mod arxiv_2405_18273 {}

#[doc = include_str!("2407.01602.md")]
pub mod arxiv_2407_01602 {}

#[doc = include_str!("2410.06833.md")]
pub mod arxiv_2410_06833 {}

#[doc = include_str!("2410.23228.md")]
pub mod arxiv_2410_23228 {}

#[doc = include_str!("2411.04990.md")]
pub mod arxiv_2411_04990 {}

#[doc = include_str!("2412.02682.md")]
pub mod arxiv_2412_02682 {}

#[doc = include_str!("2412.09080.md")]
pub mod arxiv_2412_09080 {}

#[doc = include_str!("2501.18322.md")]
pub mod arxiv_2501_18322 {}

#[doc = include_str!("2504.14697.md")]
pub mod arxiv_2504_14697 {}

#[doc = include_str!("2507.22857.md")]
pub mod arxiv_2507_22857 {}

#[doc = include_str!("2508.09628.md")]
pub mod arxiv_2508_09628 {}

#[doc = include_str!("2509.15958.md")]
pub mod arxiv_2509_15958 {}

#[doc = include_str!("2509.25040.md")]
pub mod arxiv_2509_25040 {}

#[doc = include_str!("2510.05554.md")]
pub mod arxiv_2510_05554 {}

#[doc = include_str!("2510.22026.md")]
pub mod arxiv_2510_22026 {}

#[doc = include_str!("2512.01868.md")]
pub mod arxiv_2512_01868 {}

#[doc = include_str!("2601.21366.md")]
pub mod arxiv_2601_21366 {}

#[doc = include_str!("2601.21942.md")]
pub mod arxiv_2601_21942 {}

#[doc = include_str!("2603.06187.md")]
pub mod arxiv_2603_06187 {}

#[doc = include_str!("2604.01978.md")]
pub mod arxiv_2604_01978 {}

#[doc = include_str!("2604.23681.md")]
pub mod arxiv_2604_23681 {}

#[doc = include_str!("2604.26085.md")]
pub mod arxiv_2604_26085 {}

#[doc = include_str!("2605.04279.md")]
pub mod arxiv_2605_04279 {}

#[doc = include_str!("2605.08505.md")]
pub mod arxiv_2605_08505 {}

#[doc = include_str!("2605.10931.md")]
pub mod arxiv_2605_10931 {}

#[doc = include_str!("2605.30229.md")]
pub mod arxiv_2605_30229 {}

#[doc = include_str!("2606.05140.md")]
pub mod arxiv_2606_05140 {}
