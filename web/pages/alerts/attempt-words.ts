/** Results of test and manual sends. */

export interface Attempted {
  readonly outcome: 'delivered' | 'written' | 'failed' | 'gone'
  readonly status: number | null
  readonly error: string | null
  readonly answer: string
}

export function attemptText(what: string, { outcome, status, error, answer }: Attempted): string {
  if (outcome === 'written') return `${what} is ${answer}.`
  const answered = status === null ? '' : ` (status ${status})`
  return outcome === 'delivered'
    ? `${what} is delivered${answered}.`
    : `${what} is not delivered: ${error ?? `status ${status}`}.`
}
