/** Delivers a mail by SMTP, or without a server as a file in a folder. */

import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Mail } from './templates.ts'

export interface MailTransport {
  send(mail: Mail): Promise<void>
  /**
   * Removes files of mails whose `header`, in lower case, lists a value that `choose` selects from all files' values.
   * Waits for mails that are being written.
   */
  removeWritten(header: string, choose: (values: ReadonlySet<string>) => Promise<ReadonlySet<string>>): Promise<void>
  close(): void
}

export interface MailTransportOptions {
  /** `smtp://user:password@host:587` or `smtps://…`. Without it, mails are written to `folder`. */
  smtpUrl: string | undefined
  from: () => string
  folder: string
  nowMs: () => number
}

/** The oldest files beyond it are removed. */
const filesMax = 1_000

const noAccess = { disableFileAccess: true, disableUrlAccess: true }
const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 }

export function createMailTransport({ smtpUrl, from, folder, nowMs }: MailTransportOptions): MailTransport {
  const written = createFolder(from, folder, nowMs)
  if (smtpUrl === undefined) return written
  const transport = createTransport({ ...smtpOptions(smtpUrl), ...limits, ...noAccess, pool: true, maxConnections: 4 })
  return {
    send: async mail => void (await transport.sendMail(messageOf(mail, from()))),
    // The folder may have mails from before SMTP_URL was set.
    removeWritten: written.removeWritten,
    close() {
      written.close()
      transport.close()
    },
  }
}

function createFolder(from: () => string, folder: string, nowMs: () => number): MailTransport {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix', ...noAccess })
  const writing = new Map<string, Promise<void>>()
  async function write(path: string, mail: Mail): Promise<void> {
    const { message } = await transport.sendMail(messageOf(mail, from()))
    // The complete file is renamed, so that a program that watches the folder reads a whole mail.
    await writeFile(`${path}.new`, withPreamble(String(message), mail.text), { mode: 0o600 })
    await rename(`${path}.new`, path)
    await removeOldest(folder)
  }

  return {
    async send(mail) {
      const time = new Date(nowMs()).toISOString().replaceAll(/[:.]/g, '-')
      const path = join(folder, `${time}-${randomBytes(4).toString('hex')}.eml`)
      const written = write(path, mail).finally(() => writing.delete(`${path}.new`))
      writing.set(`${path}.new`, written)
      await written
    },
    async removeWritten(header, choose) {
      await Promise.allSettled(writing.values())
      const names = await readdir(folder)
      const partial = names.filter(name => name.endsWith('.new')).map(name => join(folder, name))
      // A process ended while it wrote them.
      for (const path of partial) if (!writing.has(path)) await rm(path, { force: true })
      const valuesOf = new Map<string, readonly string[]>()
      for (const name of names.filter(name => name.endsWith('.eml'))) {
        const path = join(folder, name)
        valuesOf.set(path, listedIn(await textOf(path), header))
      }
      const values = new Set([...valuesOf.values()].flat())
      if (values.size === 0) return
      const chosen = await choose(values)
      for (const [path, listed] of valuesOf) {
        if (listed.some(value => chosen.has(value))) await rm(path, { force: true })
      }
    },
    close: () => transport.close(),
  }
}

/** Empty if another process has removed the file. */
async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
}

/** Values of a header, separated by spaces. Folded lines begin with a space (RFC 5322, 2.2.3). */
function listedIn(text: string, header: string): string[] {
  const lines = text.slice(0, text.indexOf('\n\n')).split('\n')
  const start = lines.findIndex(line => line.toLowerCase().startsWith(`${header}: `))
  if (start < 0) return []
  const next = lines.findIndex((line, at) => at > start && !line.startsWith(' '))
  const value = lines.slice(start, next < 0 ? undefined : next).join(' ')
  return value
    .slice(header.length + 1)
    .split(' ')
    .filter(listed => listed !== '')
}

/**
 * Adds the plain text before the first part, where mail programs show nothing (RFC 2046, 5.1.1): links in the parts are
 * quoted-printable and cannot be copied from the file.
 */
function withPreamble(message: string, text: string): string {
  const headersEnd = message.indexOf('\n\n') + 2
  return `${message.slice(0, headersEnd)}${text}\n\n${message.slice(headersEnd)}`
}

/** File names begin with their time. */
async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => name.endsWith('.eml')).sort()
  for (const name of names.slice(0, -filesMax)) await rm(join(folder, name), { force: true })
}

/** The recipient is an object, which is not parsed as a list of addresses. */
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
