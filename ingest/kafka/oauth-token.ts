/** Tokens for OAUTHBEARER from an OAuth 2.0 authorization server, by the grant of client credentials. */

import { z } from 'zod'

/** Plain data, so that it can go to a thread. */
export interface OauthClient {
  tokenUrl: string
  clientId: string
  clientSecret: string
  scope?: string | undefined
}

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() })

const answerMsMax = 3000
/** A token that does not say when it ends is asked for at each connection. */
const usedShare = 0.8

/** Asks for a token when there is none yet, or the last one ends soon. Rejects with the reason. */
export function createTokenProvider({ tokenUrl, clientId, clientSecret, scope }: OauthClient): () => Promise<string> {
  let token: { text: string; untilMs: number } | undefined

  return async () => {
    const nowMs = performance.now()
    if (token !== undefined && nowMs < token.untilMs) return token.text
    const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':')
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}`, accept: 'application/json' },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) }),
      redirect: 'error',
      signal: AbortSignal.timeout(answerMsMax),
    })
    if (!response.ok) throw new Error(`${tokenUrl} answers ${response.status}`)
    const parsed = Token.safeParse(await response.json())
    if (!parsed.success) throw new Error(`${tokenUrl} gives no token`)
    const { access_token: text, expires_in = 0 } = parsed.data
    token = { text, untilMs: nowMs + 1000 * usedShare * expires_in }
    return text
  }
}
