/** The token by which the document reads, where it shows a view by a link. */

let token: string | undefined

export function setToken(given: string): void {
  token = given
}

export function hasToken(): boolean {
  return token !== undefined
}

/** Omits the cookies of a session: a request with two credentials is refused. */
export function withToken(init: RequestInit): RequestInit {
  if (token === undefined) return init
  return { ...init, credentials: 'omit', headers: { ...init.headers, authorization: `Bearer ${token}` } }
}
