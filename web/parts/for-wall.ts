/** Views that a wall shows. */

import { routeOf } from '../client/routes.ts'

/** `address` is a saved view's, with its arguments. */
export function isForWall(address: string): boolean {
  const page = routeOf(address.split('?', 1)[0] ?? '')?.page
  return page === 'fleet' || page === 'charts' || page === 'dashboard'
}
