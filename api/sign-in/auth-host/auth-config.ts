/** Configures Auth.js for one request, with the service's accounts and sessions. */

import type { JWTPayload } from 'jose'
import type { Account } from '../../../auth/accounts/account.ts'
import type { Client } from '../../../auth/accounts/account-parts.ts'
import { authenticate } from '../../../auth/accounts/sign-in.ts'
import type { SessionCodec } from '../../../auth/sessions/session-codec.ts'
import type { Log } from '../../../store/log.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { check } from '../../accounts/kit/validation.ts'
import { isoTime, LoginCredentials } from '../../accounts/schemas.ts'
import type { AuthConfig, AuthJs, Claims } from './auth-js.ts'

export interface RequestConfig {
  config: AuthConfig
  /** Throws a fault that the service had while the library ran. */
  throwFault(): void
}

const sessionSeconds = 30 * 24 * 3600

export interface HostParts {
  authJs: AuthJs
  service: AccountService
  codec: SessionCodec
  csrfSecret: string
  log: Log
}

/** `base` is the address of this service, without a final slash. */
export function createAuthConfig(options: HostParts, base: string, client: Client): RequestConfig {
  const { authJs, service, codec, csrfSecret, log } = options
  const { accounts, sessions } = service
  const faults: unknown[] = []
  /** Account whose password was just verified. */
  let known: Account | undefined
  /** Account of the session, once it is known. */
  let current: Account | undefined

  /** The library catches all errors, so the service's faults are kept. */
  const noted =
    <Rest extends unknown[], Result>(work: (...rest: Rest) => Promise<Result>) =>
    async (...rest: Rest): Promise<Result> => {
      try {
        return await work(...rest)
      } catch (error) {
        if (!(error instanceof authJs.CredentialsSignin)) faults.push(error)
        throw error
      }
    }

  async function authorize(sent: Claims) {
    const checked = check(LoginCredentials, 'body', sent)
    if (!checked.ok) return null
    const outcome = await authenticate(accounts, checked.value, client)
    if (!outcome.ok) {
      throw Object.assign(new authJs.CredentialsSignin(), { code: outcome.code.toLowerCase().replaceAll('_', '-') })
    }
    known = outcome.value
    return { id: String(known.id) }
  }

  async function claimsNow(claims: Claims): Promise<Claims | null> {
    current = known
    if (known !== undefined) return { ...sessions.claimsOf(known, await sessions.start(known, client)) }
    const signedIn = await sessions.fromClaims(claims as JWTPayload)
    if (signedIn === undefined) return null
    const { account, sid, signedInMs: createdMs } = signedIn
    current = account
    return { ...sessions.claimsOf(account, { sid, createdMs }) }
  }

  async function end(claims: Claims | null): Promise<void> {
    const signedIn = claims === null ? undefined : await sessions.fromClaims(claims as JWTPayload)
    if (signedIn?.sid !== undefined) await sessions.revoke(signedIn.account, signedIn.sid)
  }

  const { pathname } = new URL(base)
  const prefix = pathname === '/' ? '' : pathname
  const signInPage = `${prefix}/sign-in`
  const email = { label: 'E-mail address', type: 'email' }
  const password = { label: 'Password', type: 'password' }
  const config: AuthConfig = {
    basePath: `${prefix}/auth`,
    // The configured address is used in place of the request's.
    trustHost: true,
    secret: csrfSecret,
    useSecureCookies: codec.isSecure,
    providers: [authJs.Credentials({ credentials: { email, password }, authorize: noted(authorize) })],
    session: { strategy: 'jwt', maxAge: sessionSeconds },
    jwt: {
      encode: noted(({ token }) => codec.encode(token as JWTPayload)),
      decode: async ({ token }) => await codec.decode(token).catch(() => null),
    },
    cookies: { sessionToken: { name: codec.cookieName } },
    pages: { signIn: signInPage, signOut: `${prefix}/account`, error: signInPage, verifyRequest: signInPage },
    callbacks: {
      jwt: noted(({ token }) => claimsNow(token)),
      session: ({ token }) => sessionOf(token as JWTPayload, current),
    },
    events: { signOut: noted(({ token }) => end(token)) },
    // The library also logs errors of clients. Faults of the service are kept above.
    logger: { error: () => undefined, warn: warning => log.warn({ warning }, 'Auth.js warns'), debug: () => undefined },
  }
  return {
    config,
    throwFault() {
      if (faults.length > 0) throw faults[0]
    },
  }
}

/** Returns the session as `GET /v1/auth/session/info` does, with the role for pages. */
function sessionOf({ sub, exp, name, email, picture }: JWTPayload, account: Account | undefined) {
  return { user: { id: sub, name, email, image: picture }, role: account?.role, expires: isoTime((exp ?? 0) * 1000) }
}
