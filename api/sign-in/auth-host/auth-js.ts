/** Auth.js, as far as the host uses it. Its own types bring in those of browsers, which this project does without. */

export interface AuthJs {
  Auth(request: Request, config: AuthConfig): Promise<Response>
  Credentials(options: CredentialsOptions): Provider
  /** To be extended: its code goes into the address of the sign-in page. */
  CredentialsSignin: new () => Error & { code: string }
}

/** An object of its own for every request: the library writes defaults into it. */
export interface AuthConfig {
  basePath: string
  trustHost: true
  /** Of the CSRF tokens. */
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
    /** With a user at a sign-in; null ends the session. */
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
