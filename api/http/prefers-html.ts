/** Whether a client would rather have a page than JSON. */

import Negotiator from 'negotiator'

/** At equal preference the first one is sent. */
const types = ['application/json', 'text/html']

/** Not of one that takes anything, as `curl` does; browsers name it. */
export function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && new Negotiator({ headers: { accept } }).mediaTypes(types)[0] === 'text/html'
}
