/**
 * Reloads a wall's document after an update of the service, or after some minutes without data. It sends a request
 * first, since a browser would stay at its own error page.
 */

const everyMs = 60_000
const failingMsMax = 300_000

/** `isFailing` is called each minute. Returns a function that ends it. */
export function renewWhenNeeded(isFailing: () => boolean): () => void {
  let shownTag: string | null | undefined
  let failsSinceMs: number | undefined
  async function look(): Promise<void> {
    const nowMs = Date.now()
    failsSinceMs = isFailing() ? (failsSinceMs ?? nowMs) : undefined
    const answer = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
    if (answer?.ok !== true) return
    const tag = answer.headers.get('etag')
    const isOther = shownTag !== undefined && tag !== shownTag
    shownTag ??= tag
    if (isOther || (failsSinceMs !== undefined && nowMs - failsSinceMs >= failingMsMax)) location.reload()
  }
  void look()
  const timer = setInterval(() => void look(), everyMs)
  return () => clearInterval(timer)
}
