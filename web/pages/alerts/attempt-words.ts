/** What came of something that was sent by hand. */

export interface Attempted {
  readonly outcome: 'delivered' | 'failed' | 'gone'
  readonly status: number | null
  readonly error: string | null
}

export function attemptText(what: string, { outcome, status, error }: Attempted): string {
  const answered = status === null ? '' : ` (status ${status})`
  return outcome === 'delivered'
    ? `${what} is delivered${answered}.`
    : `${what} is not delivered: ${error ?? `status ${status}`}.`
}
