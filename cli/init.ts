/** `barograph init`: the operator's account and the first device, asked for or by options, and a unit of systemd. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as prompts from '@clack/prompts'
import { AccountPage, AddedAccount } from '../auth/accounts/account-details.ts'
import { IssuedPassword } from '../auth/devices/device.ts'
import { type Environment, findProgram, runProgram } from '../store/process/find-program.ts'
import { packageFolder } from '../store/version.ts'
import { readPassword } from './accounts.ts'
import { type CommandContext, createCommandContext } from './command-context.ts'
import { CommandError, exitUsage, messageOf } from './command-error.ts'
import { findUrl } from './find-server.ts'
import { command, type Part, readAll } from './operation-commands.ts'
import { printable } from './output.ts'

interface Given {
  data_dir?: string
  email?: string
  name?: string
  password_stdin?: true
  device?: string
  location_short?: string
  systemd?: boolean
}

/** The directory is set in deploy/barograph.service. */
const unitDataDirectory = '/var/lib/barograph'

/** Asks a person, or undefined where no terminal can answer. */
type Ask = ReturnType<typeof createAsk>

export const defineInit = command('', '', {
  options: [
    ['--data-dir <folder>', `data directory (default: DATA_DIR; with --systemd ${unitDataDirectory})`],
    ['--email <address>', 'e-mail address of the first account, the operator'],
    ['--name <name>', 'name of that person'],
    ['--password-stdin', 'read the password of the account from standard input'],
    ['--device <name>', 'first device'],
    ['--location-short <text>', 'its short location, such as a room'],
    ['--systemd', 'install a systemd unit and start it (as root)'],
    ['--no-systemd', 'do not ask for a systemd unit'],
  ],
  json: 'print the result as JSON',
  help: `On a terminal it asks for what the options leave open, unless --email or --device is given. A service that does not run is
started for the time of the command, or by systemd. Without --password-stdin it prints a link that sets the password.`,
  examples: [
    'init',
    'init --email ada@example.com --device porch --location-short Porch',
    'init --systemd --email ada@example.com --password-stdin < password.txt',
  ],
  async run(given: Given & { json?: true }, context) {
    const { stdin, stdout } = context.streams
    const isTerminal = (stdin as NodeJS.ReadStream).isTTY === true && stdout.isTTY === true
    const isAsking = isTerminal && given.json !== true && given.email === undefined && given.device === undefined
    return await initialize(given, context, isAsking ? createAsk(context.streams) : undefined)
  },
})

async function initialize(given: Given, outer: CommandContext, ask: Ask | undefined) {
  const isRunning = await isAlive(outer)
  if (isRunning && given.systemd === true) {
    throw new CommandError('a service runs already; stop it before --systemd installs another one')
  }
  const isUnit = !isRunning && (given.systemd ?? (await ask?.unit(outer.environment))) === true
  const context = isRunning ? outer : await withDataDirectory(given, outer, isUnit, ask)
  const { DATA_DIR } = context.readSettings()
  if (isUnit) await installUnit(DATA_DIR, context.environment)
  const child = isRunning || isUnit ? undefined : startService(context)
  try {
    await ready(context, child?.failed)
    const account = await addOperator(given, context, ask)
    const device = await addDevice(given, context, ask)
    return outcomeOf({ url: context.client.url(), data_directory: DATA_DIR, account, device }, isRunning || isUnit)
  } finally {
    await child?.stop()
  }
}

const answerMsMax = 10_000

/** A server that accepts connections may never answer. */
async function answersOk(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(answerMsMax) })).ok
}

async function isAlive({ serverOptions, readSettings }: CommandContext): Promise<boolean> {
  try {
    return await answersOk(`${findUrl(serverOptions(), readSettings)}/health/live`)
  } catch (error) {
    if (error instanceof CommandError) throw error
    return false
  }
}

/** The context of the service that is going to run. */
async function withDataDirectory(given: Given, outer: CommandContext, isUnit: boolean, ask: Ask | undefined) {
  const usual = isUnit ? unitDataDirectory : outer.readSettings().DATA_DIR
  const folder = given.data_dir ?? (await ask?.text('Data directory', usual)) ?? usual
  const environment = { ...outer.environment, DATA_DIR: resolve(folder) }
  return createCommandContext({ ...outer.streams, environment }, outer.serverOptions)
}

const logBytesMax = 4_000

function startService({ environment }: CommandContext) {
  const child = spawn(process.execPath, [join(packageFolder(), 'bin', 'launch.cjs'), 'start'], {
    env: { ...environment, PARENT_PID: String(process.pid), LOG_FORMAT: 'pretty' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => (printed = `${printed}${text}`.slice(-logBytesMax)))
  }
  const closed = once(child, 'close')
  return {
    failed: closed.then(() => {
      throw new CommandError(`the service did not start:\n${printed.trim()}`)
    }),
    async stop() {
      child.kill('SIGTERM')
      await closed
    },
  }
}

const pollMs = 250
/** The first start downloads QuestDB. */
const startMsMax = 15 * 60_000

async function ready({ client }: CommandContext, failed: Promise<never> = new Promise(() => {})): Promise<void> {
  const isReady = async () => {
    try {
      return await answersOk(`${client.url()}/health/ready`)
    } catch {
      return false
    }
  }
  const untilMs = performance.now() + startMsMax
  while (!(await Promise.race([isReady(), failed]))) {
    if (performance.now() > untilMs)
      throw new CommandError(`the service is not ready after ${startMsMax / 60_000} minutes`)
    await sleep(pollMs)
  }
}

/** Undefined where there is an operator, because a second one would take the role from the first. */
async function addOperator(given: Given, { apiClient, streams }: CommandContext, ask: Ask | undefined) {
  if (given.email === undefined && ask === undefined) return undefined
  const accounts = await readAll(apiClient, AccountPage, '/admin/accounts')
  if (accounts.some(({ role }) => role === 'operator')) {
    if (given.email === undefined) return undefined
    throw new CommandError('there is an operator already; add accounts by barograph accounts add')
  }
  const add = async (fields: object) =>
    await apiClient.json(AddedAccount, 'POST', '/admin/accounts', { ...fields, role: 'operator', email_verified: true })
  if (ask === undefined) {
    const { email, name, password_stdin } = given
    return await add({ email, name, ...(password_stdin === true && { password: await readPassword(streams) }) })
  }
  return await ask.again(async () => {
    const email = await ask.text('E-mail address of the operator')
    return await add({ email, password: await ask.password('Password') })
  })
}

async function addDevice({ device, location_short }: Given, { apiClient }: CommandContext, ask: Ask | undefined) {
  const add = (fields: object) => apiClient.json(IssuedPassword, 'POST', '/admin/devices', fields)
  if (ask === undefined) return device === undefined ? undefined : await add({ name: device, location_short })
  return await ask.again(async () => {
    const name = await ask.text('Name of the first device, or nothing', '')
    return name === '' ? undefined : await add({ name, location_short: await ask.text('Where it is', name) })
  })
}

interface Result {
  url: string
  data_directory: string
  account: AddedAccount | undefined
  device: IssuedPassword | undefined
}

function outcomeOf({ account, device, ...place }: Result, isRunning: boolean) {
  const { password_link } = account ?? {}
  const text: Part[] = [
    { ...place, ...(account && { account: account.email }), ...device },
    ...(password_link ? [`\nLink that sets the password, valid for one hour, once:\n${password_link}`] : []),
    ...(isRunning ? [] : [`\nStart the service:\nDATA_DIR=${place.data_directory} barograph start`]),
    ...(device === undefined ? [] : [`\nSend a reading:\n${readingCommand(place.url, device)}`]),
  ]
  return { json: { ...place, running: isRunning, account: account ?? null, device: device ?? null }, text }
}

function readingCommand(url: string, { device, password }: IssuedPassword): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const body = quoted(JSON.stringify({ device, temperature: 21.4 }))
  return `curl -u ${quoted(`${device}:${password}`)} -X PUT -H 'content-type: application/json' -d ${body} ${url}/api/log`
}

function createAsk({ stdin, stdout }: CommandContext['streams']) {
  const streams = { input: stdin, output: stdout }
  const answered = <Value>(value: Value) => {
    if (prompts.isCancel(value)) throw new CommandError('cancelled', exitUsage)
    return value as Exclude<Value, symbol>
  }
  const ask = {
    /** An empty answer is the usual one, where there is one. */
    async text(message: string, usual?: string): Promise<string> {
      const validate = (text?: string) => (!text && usual === undefined ? 'An answer is needed.' : undefined)
      const placeholder = usual === undefined ? {} : { placeholder: usual, defaultValue: usual }
      return answered(await prompts.text({ message, validate, ...placeholder, ...streams }))
    },
    async password(message: string): Promise<string> {
      return answered(await prompts.password({ message, ...streams }))
    },
    /** False unless systemd runs and this process may install units. */
    async unit(environment: CommandContext['environment']): Promise<boolean> {
      if (process.getuid?.() !== 0 || findProgram('systemctl', environment) === undefined) return false
      const message = 'Install a systemd unit, which starts the service with the machine?'
      return answered(await prompts.confirm({ message, ...streams }))
    },
    /** Repeats the step until the server accepts its answers. */
    async again<Value>(step: () => Promise<Value>): Promise<Value> {
      for (;;) {
        try {
          return await step()
        } catch (error) {
          if (!(error instanceof CommandError) || error.exitStatus === exitUsage) throw error
          prompts.log.error(printable(error.message), streams)
        }
      }
    },
  }
  return ask
}

const user = 'barograph'
const systemd = '/etc/systemd/system'
const timeoutMs = 120_000

/** Installs deploy/barograph.service for this copy of the program. systemctl reads `SYSTEMD_UNIT_PATH`, too. */
async function installUnit(dataDirectory: string, environment: Environment): Promise<void> {
  const text = unitText(packageFolder(), dataDirectory)
  const run = async (name: string, ...words: string[]) => {
    const program = findProgram(name, environment)
    const { ok, output } = program
      ? await runProgram(program, words, { environment, timeoutMs })
      : { ok: false, output: 'not on PATH' }
    if (!ok) throw new CommandError(`${name} ${words.join(' ')}: ${output.trim()}`)
  }
  try {
    await run('id', user)
  } catch {
    await run('useradd', '--system', '--home-dir', unitDataDirectory, '--shell', '/usr/sbin/nologin', user)
  }
  await run('install', '-d', '-o', user, '-m', '711', dataDirectory)
  try {
    writeFileSync(join(environment['SYSTEMD_UNIT_PATH'] ?? systemd, `${user}.service`), text)
  } catch (error) {
    throw new CommandError(`the unit cannot be written; run as root: ${messageOf(error)}`)
  }
  await run('systemctl', 'daemon-reload')
  await run('systemctl', 'enable', '--now', user)
}

/** The unit in deploy/ is of a checkout in /opt/barograph. */
function unitText(program: string, dataDirectory: string): string {
  // ProtectHome hides these folders from the service.
  for (const folder of [program, dataDirectory]) {
    if (/^\/(?:home|root|run\/user)\//.test(`${folder}/`)) {
      throw new CommandError(`systemd hides ${folder} from the service; use a folder such as /opt/barograph`)
    }
    if (/[\s%$"'\\]/.test(folder)) throw new CommandError(`${folder} has characters that a unit does not take`)
  }
  return readFileSync(join(packageFolder(), 'deploy', 'barograph.service'), 'utf8')
    .replaceAll('/opt/barograph', program)
    .replace(`DATA_DIR=${unitDataDirectory}\nEnvironment`, `DATA_DIR=${dataDirectory}\nEnvironment`)
    .replace(/^ReadWritePaths=.*$/m, paths =>
      dataDirectory === unitDataDirectory ? paths : `${paths} ${dataDirectory}`,
    )
}
