/** Calls Auth.js, and names its errors. */

export const hostErrors = ['Configuration', 'AccessDenied', 'Verification', 'MissingCSRF', 'SessionRequired'] as const
export type HostError = (typeof hostErrors)[number]

export interface AuthJs {
  Auth(request: Request, config: AuthConfig): Promise<Response>
  Credentials(options: CredentialsOptions): Provider
  /** Extended by the service: its code is part of the sign-in page's address. */
  CredentialsSignin: new () => Error & { code: string }
}

/** Every request needs a new object: the library writes defaults into it. */
export interface AuthConfig {
  basePath: string
  trustHost: true
  /** Secret of the CSRF tokens. */
  secret: string
  useSecureCookies: boolean
  providers: Provider[]
  session: { strategy: 'jwt'; maxAge: number }
  jwt: {
    encode(options: { token: Claims }): Promise<string>
    decode(options: { token: string }): Promise<Claims | null>
  }
  cookies: { sessionToken: { name: string } }
  pages: Record<'signIn' | 'signOut' | 'error' | 'verifyRequest', string>
  callbacks: {
    /** Has a user at a sign-in; null ends the session. */
    jwt(options: { token: Claims; user?: AuthUser }): Promise<Claims | null>
    session(options: { token: Claims }): unknown
  }
  events: { signOut(message: { token: Claims | null }): Promise<void> }
  logger: Record<'error' | 'warn' | 'debug', (error: unknown) => void>
}

export type Claims = Record<string, unknown>
type Provider = Readonly<{ id: string }>

interface AuthUser {
  id: string
}

interface CredentialsOptions {
  credentials: Record<string, { label: string; type: string }>
  authorize(sent: Record<string, unknown>): Promise<AuthUser | null>
}

export async function loadAuthJs(): Promise<AuthJs> {
  const { Auth } = (await import(import.meta.resolve('@auth/core'))) as Pick<AuthJs, 'Auth'>
  const { CredentialsSignin } = (await import(import.meta.resolve('@auth/core/errors'))) as Pick<
    AuthJs,
    'CredentialsSignin'
  >
  const { default: Credentials } = (await import(import.meta.resolve('@auth/core/providers/credentials'))) as {
    default: AuthJs['Credentials']
  }
  return { Auth, Credentials, CredentialsSignin }
}
