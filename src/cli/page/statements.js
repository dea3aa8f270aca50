// Statements of the theory for uniform tokens, each with the settings for which it holds.

const share = (p) => (p < 1e-3 ? power(p) : p > 0.999 ? '1' : p.toFixed(3));
const still = (s) => !s.kappa;

// `least` and `most` bound the dimension; `about` checks the other settings; `says` returns the
// sentence, or nothing if the solver has no number for it.
const STATEMENTS = [
  {
    about: (s) => still(s) && !s.interaction && !s.dynamics.startsWith('repulsive'),
    says: (r) => 'Uniform tokens lie in a common hemisphere, and therefore become one cluster,'
      + ` with probability ${share(r.hemisphere)} (Wendel).`,
  },
  {
    most: 3, about: still,
    says: (r, s) => r.mode && `The fastest growing mode of the uniform measure has degree ${r.mode}`
      + ` and rate ${power(r.rate)}`
      + `${s.d === 2 ? `: about ${r.mode} clusters form first` : ''} (arXiv:2410.23228).`,
  },
  {
    most: 3, about: (s) => !s.interaction,
    says: (r) => r.modes && 'The density estimate of many uniform tokens with this kernel has'
      + ` ${r.modes.toFixed(1)} modes on average (Kac and Rice).`,
  },
  {
    // Inner products are of order d^(-1/2), and weights differ by factors e^(beta d^(-1/2)). For
    // 2 beta^2 <= d the error of the time is below 1/3 (n = 16 to 64, d = 32 to 128). Counterexample:
    // n = 64, d = 32, beta = 9, where the last pair takes until 4210, equiangular tokens until 124.
    least: 30, about: (s) => still(s) && !s.zipf && !s.norm && !s.interaction && 2 * s.beta ** 2 <= s.d,
    says: (r) => r.equiangular_time && 'In high dimension uniform tokens are nearly orthogonal'
      + ' and move like equiangular ones: all inner products reach 0.999'
      + ` at about t = ${power(r.equiangular_time)} (arXiv:2312.10794).`,
  },
  {
    about: (s) => s.dynamics === 'usa' && s.scale === 'u1' && !s.norm && !s.interaction,
    says: (r) => r.kappa_threshold && 'With noise the uniform measure is stable for κ below'
      + ` ${power(r.kappa_threshold)}, USA in U1 (arXiv:2606.05140).`,
  },
];

// The sentences for a state, made from the reply of the solver.
function sentencesOf(reply, state) {
  const capital = (words) => words[0].toUpperCase() + words.slice(1);
  const sure = (reply.certain ?? []).map((c) => `${capital(c.says)}: ${c.because} (${c.source}).`);
  const none = ['No known theorem determines the limit of this start.'];
  if (state.start !== 'uniform') return sure.length ? sure : none;
  const fits = ({ least = 0, most = Infinity, about = () => true }) =>
    state.d >= least && state.d <= most && about(state);
  return [...sure, ...STATEMENTS.filter(fits).map((s) => s.says(reply, state)).filter(Boolean)];
}
