/** The token by which the document reads, where it shows a view by a link. */

let token: string | undefined

export function setToken(given: string): void {
  token = given
}

export function hasToken(): boolean {
  return token !== undefined
}

/** Without the cookies of somebody who is signed in here: two credentials are nobody's. */
export function withToken(init: RequestInit): RequestInit {
  if (token === undefined) return init
  return { ...init, credentials: 'omit', headers: { ...init.headers, authorization: `Bearer ${token}` } }
}
