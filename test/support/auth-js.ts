/** The real Auth.js, as far as cookies go. Its own types need browser types, which this project lacks. */

interface Jwt {
  encode(options: JwtOptions & { token: Record<string, unknown>; maxAge?: number }): Promise<string>
  decode(options: JwtOptions & { token: string }): Promise<Record<string, unknown> | null>
}

interface JwtOptions {
  secret: string
  salt: string
}

export const authJs = (await import(import.meta.resolve('@auth/core/jwt'))) as Jwt
