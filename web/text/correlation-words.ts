/** A correlation in words. */

/** Cohen's 0.1, 0.3 and 0.5 are for people; two sensors of one thing agree far better than that. */
export function closeness(r: number): 'very closely' | 'closely' | 'loosely' | 'hardly' {
  const size = Math.abs(r)
  if (size >= 0.95) return 'very closely'
  if (size >= 0.7) return 'closely'
  return size >= 0.3 ? 'loosely' : 'hardly'
}

const sentenceOfReason: Record<string, string> = {
  no_data: 'There is no hour in which both have a value.',
  insufficient_data: 'There are fewer than ten hours in which both have a value.',
  constant: 'One of the two does not vary.',
  too_few_independent: 'No clear link (too few independent hours).',
}

/** Why there is no correlation. */
export function pairReasonSentence(reason: string | null): string {
  return sentenceOfReason[reason ?? ''] ?? 'Not computed.'
}

/** What moves the other way some hours later does not follow. */
export function isSameWay(r: number, lagR: number | null): boolean {
  return lagR !== null && Math.sign(lagR) === Math.sign(r)
}
