/** How a mail leaves: by SMTP, or without a server as a file in a folder. */

import { randomBytes } from 'node:crypto'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Mail } from './templates.ts'

export interface MailTransport {
  send(mail: Mail): Promise<void>
  close(): void
}

export interface MailTransportOptions {
  /** `smtp://user:password@host:587`, `smtps://…`; without it, mails are written to `folder`. */
  smtpUrl: string | undefined
  from: () => string
  folder: string
  nowMs: () => number
}

/** Of the files, the newest stay. */
const filesMax = 1_000

const noAccess = { disableFileAccess: true, disableUrlAccess: true }
const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 }

export function createMailTransport({ smtpUrl, from, folder, nowMs }: MailTransportOptions): MailTransport {
  if (smtpUrl === undefined) return createFolder(from, folder, nowMs)
  const transport = createTransport({ ...smtpOptions(smtpUrl), ...limits, ...noAccess, pool: true, maxConnections: 4 })
  return {
    send: async mail => void (await transport.sendMail(messageOf(mail, from()))),
    close: () => transport.close(),
  }
}

function createFolder(from: () => string, folder: string, nowMs: () => number): MailTransport {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix', ...noAccess })
  return {
    async send(mail) {
      const { message } = await transport.sendMail(messageOf(mail, from()))
      const time = new Date(nowMs()).toISOString().replaceAll(/[:.]/g, '-')
      const path = join(folder, `${time}-${randomBytes(4).toString('hex')}.eml`)
      // Under its name it is whole, for whoever watches the folder.
      await writeFile(`${path}.new`, withPreamble(String(message), mail.text), { mode: 0o600 })
      await rename(`${path}.new`, path)
      await removeOldest(folder)
    },
    close: () => transport.close(),
  }
}

/**
 * With the text as it is before the first part, where mail programs show nothing (RFC 2046, 5.1.1): the parts have links in
 * quoted-printable, broken and with "=3D", which nobody can copy out of the file.
 */
function withPreamble(message: string, text: string): string {
  const headersEnd = message.indexOf('\n\n') + 2
  return `${message.slice(0, headersEnd)}${text}\n\n${message.slice(headersEnd)}`
}

/** Their names begin with their time. */
async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => name.endsWith('.eml')).sort()
  for (const name of names.slice(0, -filesMax)) await rm(join(folder, name), { force: true })
}

/** The recipient as an object: nothing in it is parsed as a list of addresses. */
function messageOf({ to, subject, text, html, headers }: Mail, from: string) {
  const all = { 'auto-submitted': 'auto-generated', ...headers }
  return { from, to: { name: '', address: to }, subject, text, html, headers: all }
}

function smtpOptions(smtpUrl: string) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  const isSecure = protocol === 'smtps:'
  return {
    host: hostname,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  }
}
