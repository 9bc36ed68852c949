/** A correlation in words. */

/** Cohen's 0.1, 0.3 and 0.5 are for people; two sensors of one thing agree far better than that. */
export function closeness(r: number): 'very closely' | 'closely' | 'loosely' | 'hardly' {
  const size = Math.abs(r)
  if (size >= 0.95) return 'very closely'
  if (size >= 0.7) return 'closely'
  return size >= 0.3 ? 'loosely' : 'hardly'
}

/** A metric that moves the opposite way some hours later does not follow. */
export function isSameWay(r: number, lagR: number | null): boolean {
  return lagR !== null && Math.sign(lagR) === Math.sign(r)
}
