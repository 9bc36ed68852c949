/** The outbox against a real PostgreSQL, and how mails leave. */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { createMailTransport } from '../../auth/mail/mail-transport.ts'
import { createMailer } from '../../auth/mail/mailer.ts'
import { queueMail } from '../../auth/mail/outbox-rows.ts'
import { type Mail, renderMail } from '../../auth/mail/templates.ts'
import { recordingLog, startDatabases, temporaryFolder } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

const { store } = await startDatabases(t, {
  questdbHttp: 'http://127.0.0.1:9',
  questdbPg: 'postgresql://127.0.0.1:9/qdb',
})
const pool = store.postgres
const publicUrl = 'https://barograph.example'
const mail = { ...renderMail({ kind: 'password-reset', email: 'ada@example.com', publicUrl, token: 'abc' }) }
let nowMs = Date.parse('2026-05-01T00:00:00Z')

async function add(email: string): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(
    'INSERT INTO accounts (email, created_at, updated_at) VALUES ($1, now(), now()) RETURNING id',
    [email],
  )
  return rows[0]?.id ?? 0
}

t.test('a mail is tried again until it is gone, with waits that grow, and given up after a day', async t => {
  const sent: Mail[] = []
  let isAway = true
  let tries = 0
  const { log, texts } = recordingLog('warn')
  const send = async (mail: Mail) => {
    tries += 1
    if (isAway) throw Object.assign(new Error(`no connection for ${mail.text}`), { code: 'ECONNECTION' })
    sent.push(mail)
  }
  const mailer = createMailer({ pool, nowMs: () => nowMs, log, publicUrl: () => publicUrl, send })
  t.teardown(() => mailer.close())
  const id = await add('ada@example.com')
  await queueMail(pool, { kind: 'password-reset', email: 'ada@example.com', accountId: null, nowMs })
  const outbox = async () => (await pool.query('SELECT attempts, due_at FROM mail_outbox')).rows
  const waits: number[] = []
  for (let at = 1; at <= 8; at++) {
    mailer.wake()
    await waitFor('it was tried', () => tries === at)
    await waitFor('that is noted', async () => (await outbox())[0]?.attempts === at)
    const [row] = await outbox()
    waits.push((row.due_at.getTime() - nowMs) / 60_000)
    nowMs = row.due_at.getTime()
  }
  t.strictSame(waits, [1, 2, 4, 8, 16, 32, 60, 60])
  t.equal(texts.length, 8)
  isAway = false
  mailer.wake()
  await waitFor('it is sent', () => sent.length === 1)
  await waitFor('it is out of the box', async () => (await outbox()).length === 0)
  t.match(sent, [{ to: 'ada@example.com', text: /https:\/\/barograph\.example\/reset\?token=[\w-]{43}\n/ }])
  isAway = true
  await queueMail(pool, { kind: 'password-changed', email: 'ada@example.com', accountId: id, nowMs })
  await pool.query('UPDATE mail_outbox SET attempts = 27')
  mailer.wake()
  await waitFor('it is given up', async () => (await outbox()).length === 0)
})

t.test('an address without an account gets nothing', async t => {
  const sent: Mail[] = []
  const { log } = recordingLog('warn')
  const mailer = createMailer({
    pool,
    nowMs: () => nowMs,
    log,
    publicUrl: () => publicUrl,
    send: async mail => void sent.push(mail),
  })
  t.teardown(() => mailer.close())
  for (const kind of ['password-reset', 'verification'] as const) {
    await queueMail(pool, { kind, email: 'nobody@example.com', accountId: null, nowMs })
  }
  await pool.query("UPDATE accounts SET email_verified_at = now() WHERE email = 'ada@example.com'")
  await queueMail(pool, { kind: 'verification', email: 'ada@example.com', accountId: null, nowMs })
  mailer.wake()
  await waitFor('the box is empty', async () => (await pool.query('SELECT 1 FROM mail_outbox')).rowCount === 0)
  t.strictSame(sent, [])
})

t.test('of several senders one sends each mail, so that its link stays good', async t => {
  const sent: Mail[] = []
  const held = Promise.withResolvers<void>()
  const send = async (mail: Mail) => {
    sent.push(mail)
    await held.promise
  }
  const { log } = recordingLog('warn')
  await add('grace@example.com')
  for (const email of ['grace@example.com', 'ada@example.com']) {
    await queueMail(pool, { kind: 'password-reset', email, accountId: null, nowMs })
  }
  const mailers = [1, 2, 3].map(() => createMailer({ pool, nowMs: () => nowMs, log, publicUrl: () => publicUrl, send }))
  t.teardown(() => Promise.all(mailers.map(mailer => mailer.close())))
  for (const mailer of mailers) mailer.wake()
  await waitFor('both are being sent', () => sent.length >= 2)
  const late = createMailer({ pool, nowMs: () => nowMs, log, publicUrl: () => publicUrl, send })
  late.wake()
  const closed = late.close()
  held.resolve()
  await closed
  await waitFor('the box is empty', async () => (await pool.query('SELECT 1 FROM mail_outbox')).rowCount === 0)
  t.strictSame([sent.length, new Set(sent.map(({ to }) => to))], [2, new Set(['ada@example.com', 'grace@example.com'])])
})

t.test('what a sender has died with is sent by another one', async t => {
  const sent: Mail[] = []
  const { log } = recordingLog('warn')
  const hung = new Promise<never>(() => undefined)
  const died = createMailer({ pool, nowMs: () => nowMs, log, publicUrl: () => publicUrl, send: () => hung })
  await queueMail(pool, { kind: 'password-reset', email: 'ada@example.com', accountId: null, nowMs })
  const [before] = (await pool.query('SELECT due_at FROM mail_outbox')).rows
  died.wake()
  const dueMs = async () => (await pool.query('SELECT due_at FROM mail_outbox')).rows[0]?.due_at.getTime()
  await waitFor('it is taken', async () => (await dueMs()) > before.due_at.getTime())
  nowMs = await dueMs()
  const send = async (mail: Mail) => void sent.push(mail)
  const mailer = createMailer({ pool, nowMs: () => nowMs, log, publicUrl: () => publicUrl, send })
  t.teardown(() => mailer.close())
  mailer.wake()
  await waitFor('it is sent', () => sent.length === 1)
  await waitFor('the box is empty', async () => (await pool.query('SELECT 1 FROM mail_outbox')).rowCount === 0)
})

t.test('mails whose outcome cannot be written do not begin a run beside theirs', async t => {
  const { log } = recordingLog('warn')
  const held = Promise.withResolvers<void>()
  const begun: string[] = []
  const send = async ({ to }: Mail) => {
    begun.push(to)
    if (to === 'grace@example.com') await held.promise
  }
  const broken = {
    query: (text: string, values: unknown[]) =>
      /^DELETE/.test(text) ? Promise.reject(new Error('Connection terminated')) : pool.query(text, values),
  } as unknown as typeof pool
  const mailer = createMailer({ pool: broken, nowMs: () => nowMs, log, publicUrl: () => publicUrl, send })
  t.teardown(() => pool.query('TRUNCATE mail_outbox'))
  for (const email of ['grace@example.com', 'ada@example.com']) {
    await queueMail(pool, { kind: 'password-reset', email, accountId: null, nowMs })
  }
  mailer.wake()
  await waitFor('both are being sent', () => begun.length === 2)
  let isClosed = false
  const closed = mailer.close().then(() => {
    isClosed = true
  })
  await new Promise(resolve => setTimeout(resolve, 50))
  t.notOk(isClosed, 'a close waits for what is being sent')
  held.resolve()
  await closed
})

t.test('a full outbox says so', async t => {
  t.teardown(() => pool.query('TRUNCATE mail_outbox'))
  await pool.query(`INSERT INTO mail_outbox (kind, email, created_at, due_at)
    SELECT 'verification', 'x@example.com', now(), now() + interval '1 year' FROM generate_series(1, 10000)`)
  const queued = queueMail(pool, { kind: 'verification', email: 'x@example.com', accountId: null, nowMs })
  await t.rejects(queued, { message: 'too much mail waits to be sent' })
})

t.test('without a mail server a mail is a file', async t => {
  const folder = join(temporaryFolder(t), 'mail')
  mkdirSync(folder)
  const options = { smtpUrl: undefined, from: () => 'barograph@barograph.example', folder, nowMs: () => nowMs }
  const transport = createMailTransport(options)
  await transport.send(mail)
  transport.close()
  const names = readdirSync(folder)
  t.equal(names.length, 1)
  t.match(names[0], /^[\dTZ-]+-[0-9a-f]{8}\.eml$/)
  const path = join(folder, names[0] ?? '')
  t.equal(statSync(path).mode & 0o777, 0o600)
  const text = readFileSync(path, 'utf8')
  t.match(text, /^To: ada@example\.com$/m)
  t.match(text, /^From: barograph@barograph\.example$/m)
  t.match(text, /^Subject: Set a new password$/m)
  t.match(text, /multipart\/alternative/)
  t.ok(text.includes(`\n\n${mail.text}\n\n--`), 'the text with its link is there as it is')
  t.match(text, /text\/html/)
})

t.test('mails about something are removed from the folder, and no others', async t => {
  const folder = join(temporaryFolder(t), 'mail')
  mkdirSync(folder)
  const options = { smtpUrl: undefined, from: () => 'b@example.com', folder, nowMs: () => nowMs }
  const transport = createMailTransport(options)
  t.teardown(() => transport.close())
  const many = Array.from({ length: 20 }, (_, at) => String(9_000_000_000_000 + at))
  const about = (...ids: string[]) => ({ ...mail, subject: `about ${ids[0]}`, headers: { 'x-test': ids.join(' ') } })
  await transport.send(mail)
  await transport.send(about('1', '2'))
  await transport.send(about('2', '3'))
  await transport.send({ ...mail, subject: 'about none', text: 'X-Test: 3' })
  await transport.send(about('5', ...many))
  writeFileSync(join(folder, '2026-05-01-left.eml.new'), 'X-Test: 1')
  const asked: string[][] = []
  const remove = (...gone: string[]) =>
    transport.removeWritten('x-test', async ids => {
      asked.push([...ids])
      return new Set(gone)
    })
  const subjects = () =>
    readdirSync(folder)
      .map(name => /^Subject: (.*)$/m.exec(readFileSync(join(folder, name), 'utf8'))?.[1])
      .sort()
  await remove('3')
  t.strictSame(
    asked.map(ids => ids.sort()),
    [['1', '2', '3', '5', ...many]],
    'each id once',
  )
  t.strictSame(subjects(), ['Set a new password', 'about 1', 'about 5', 'about none'], 'half a mail is gone, too')
  const writing = transport.send(about('7'))
  await remove('7', ...many.slice(-1))
  await writing
  t.strictSame(
    subjects(),
    ['Set a new password', 'about 1', 'about none'],
    'one that was being written, and a long list',
  )
  const bySmtp = createMailTransport({ ...options, smtpUrl: 'smtp://127.0.0.1:9' })
  t.teardown(() => bySmtp.close())
  await bySmtp.removeWritten('x-test', async () => new Set(['1']))
  t.strictSame(subjects(), ['Set a new password', 'about none'], 'a service that has a mail server now')
})

t.test('with one it goes there', async t => {
  const lines: string[] = []
  const server = createServer(socket => speakSmtp(socket, lines))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const smtpUrl = `smtp://127.0.0.1:${port}`
  const transport = createMailTransport({
    smtpUrl,
    from: () => 'b@example.com',
    folder: '/nowhere',
    nowMs: () => nowMs,
  })
  await transport.send(mail)
  transport.close()
  t.ok(lines.includes('RCPT TO:<ada@example.com>'))
  t.ok(lines.includes('MAIL FROM:<b@example.com>'))
  t.ok(lines.includes('Auto-Submitted: auto-generated'))
})

t.test('what a mail shows is text', async t => {
  const odd = renderMail({
    kind: 'verification',
    email: 'a@example.com',
    publicUrl: 'https://x.example/<b>"',
    token: 't',
  })
  t.notMatch(odd.html, '<b>')
  t.match(odd.html, 'href="https://x.example/&lt;b&gt;&quot;/verify?token=t"')
})

/** Takes every mail, and keeps the lines that it is told. */
function speakSmtp(socket: Socket, lines: string[]): void {
  let isData = false
  const answerTo = (line: string): string | undefined => {
    if (isData && line !== '.') return undefined
    isData = line === 'DATA'
    return isData ? '354 go' : '250 ok'
  }
  socket.write('220 test\r\n')
  socket.on('error', () => undefined)
  createInterface(socket).on('line', line => {
    lines.push(line)
    const answer = answerTo(line)
    if (answer !== undefined) socket.write(`${answer}\r\n`)
  })
}
