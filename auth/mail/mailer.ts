/**
 * Sends the outbox, each mail until it is delivered or a day has passed. Several processes may send. Accounts are
 * looked up and tokens generated here, so that a request by address costs the same for all addresses.
 */

import type pg from 'pg'
import { attributed } from '../../store/limits/attributed-work.ts'
import type { Log } from '../../store/log.ts'
import { issueToken, isTokenPurpose, type TokenPurpose } from '../accounts/account-tokens.ts'
import { emailKeyOf } from '../accounts/email-address.ts'
import { issueMailedInvitation } from '../accounts/invitation.ts'
import { claimDueMail, type DueMail, postponeMail, removeMail } from './outbox-rows.ts'
import { type Mail, renderMail } from './templates.ts'

export interface MailerOptions {
  pool: pg.Pool
  nowMs: () => number
  log: Log
  /** Address of the pages that mails link to. */
  publicUrl: () => string
  send: (mail: Mail) => Promise<void>
  /** Interval of reading the outbox without a wake-up. */
  idleMs?: number
}

export interface Mailer {
  /** Call it when mail may be due. */
  wake(): void
  /** Finishes the mails that are being sent. */
  close(): Promise<void>
}

const sentAtOnceMax = 4
/** Longer than the transport's limit for one mail, some eight steps of at most 30 s. */
const claimMs = 300_000
const retryMsFirst = 60_000
const retryMsMax = 3_600_000
/** The attempts take about a day with the delays above. */
const attemptsMax = 28

export function createMailer({ pool, nowMs, log, publicUrl, send, idleMs = 30_000 }: MailerOptions): Mailer {
  let isClosed = false
  let isWoken = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  function wake(): void {
    isWoken = true
    if (isClosed || running !== undefined) return
    clearTimeout(timer)
    running = run().finally(() => {
      running = undefined
      if (isClosed) return
      // It was woken again after the outbox had been read.
      timer = setTimeout(wake, isWoken ? 0 : idleMs).unref()
    })
  }

  async function run(): Promise<void> {
    try {
      while (!isClosed) {
        isWoken = false
        const atMs = nowMs()
        const due = await claimDueMail(pool, { nowMs: atMs, untilMs: atMs + claimMs, rowsMax: sentAtOnceMax })
        if (due.length === 0) return
        // Waits for all mails, so that runs do not overlap.
        for (const delivery of await Promise.allSettled(due.map(deliver))) {
          if (delivery.status === 'rejected') throw delivery.reason
        }
      }
    } catch (error) {
      log.warn({ err: error }, 'cannot read or write the outbox of mails, retrying')
    }
  }

  async function deliver(due: DueMail): Promise<void> {
    const mail = await compose(due)
    const error = mail === undefined ? undefined : await sendError(due, mail)
    if (error === undefined) return await removeMail(pool, due.id)
    const what = { mail: due.kind, account: due.account_id, attempts: due.attempts + 1, reason: error }
    if (due.attempts + 1 >= attemptsMax) {
      log.error(what, 'could not send a mail for a day, dropped')
      return await removeMail(pool, due.id)
    }
    log.warn(what, 'could not send a mail, retrying')
    await postponeMail(pool, due, nowMs() + Math.min(retryMsFirst * 2 ** due.attempts, retryMsMax))
  }

  function sendError({ id }: DueMail, mail: Mail): Promise<string | undefined> {
    return attributed({ kind: 'mail', id }, () => send(mail)).then(() => undefined, whyOf)
  }

  /** Undefined without a recipient. */
  async function compose({ kind, email, account_id }: DueMail): Promise<Mail | undefined> {
    const url = publicUrl()
    if (kind === 'invitation') {
      const token = await issueMailedInvitation(pool, email, nowMs())
      return token === undefined ? undefined : renderMail({ kind, email, publicUrl: url, token })
    }
    if (!isTokenPurpose(kind)) return renderMail({ kind, email, publicUrl: url })
    const accountId = account_id ?? (await accountFor(kind, email))
    if (accountId === undefined) return undefined
    const token = await issueToken(pool, kind, { accountId, email }, nowMs())
    return renderMail({ kind, email, publicUrl: url, token })
  }

  async function accountFor(purpose: TokenPurpose, email: string): Promise<number | undefined> {
    const { rows } = await pool.query<{ id: number; is_verified: boolean }>(
      `SELECT id, email_verified_at IS NOT NULL AS is_verified FROM accounts
       WHERE email_key = $1 AND tenant_id IS NULL AND is_active`,
      [emailKeyOf(email)],
    )
    const [account] = rows
    if (account === undefined || (purpose === 'verification' && account.is_verified)) return undefined
    return account.id
  }

  return {
    wake,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}

/** The message itself is left out because it may quote the mail. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  return [code ?? error.name, responseCode].filter(part => part !== undefined).join(' ')
}
