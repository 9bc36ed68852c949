/** `barograph doctor`: checks the requirements and the running service. */

import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { type NodeStatus, Status, type TopicStatus } from '../api/admin/status-answer.ts'
import { type Config, ConfigError, readConfig } from '../service/settings/config.ts'
import { misspeltSettings, misspeltText } from '../service/settings/misspelt-settings.ts'
import { findProgram } from '../store/process/find-program.ts'
import { findJava, questdbVersion } from '../store/questdb/java.ts'
import { StartError } from '../store/start-error.ts'
import { packageVersion } from '../store/version.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitFailure } from './command-error.ts'
import { tryKafka, tryPostgres, tryQuestdb } from './doctor-checks.ts'
import { findUrl } from './find-server.ts'
import { printJson, printTable } from './output.ts'
import {
  diskText,
  isDiskFillingUp,
  nodeText,
  problemsOf,
  retentionProblems,
  retentionText,
  topicText,
  type WritePath,
  waitingText,
  writePathsOf,
} from './status.ts'

interface Check {
  name: string
  ok: boolean
  /** The result of the check. A problem comes with its remedy. */
  finding: string
}

const nodeMajor = 24
const askTimeoutMs = 5_000

export function defineDoctor(command: Command, context: CommandContext): void {
  const { streams } = context
  command
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', '\nExit status: 0 no problems, 1 at least one problem.\n\nExample:\n  barograph doctor')
    .action(async ({ json }: { json?: boolean }) => {
      const checks = await examine(context)
      const ok = checks.every(check => check.ok)
      if (json === true) printJson(streams, { ok, checks })
      else {
        printTable(
          streams,
          checks.map(check => [check.ok ? 'ok' : 'problem', check.name, check.finding]),
        )
      }
      const problems = checks.filter(check => !check.ok).length
      if (!ok) throw new CommandError(problems === 1 ? '1 problem found' : `${problems} problems found`, exitFailure)
    })
}

async function examine(context: CommandContext): Promise<Check[]> {
  const settings = checkSettings(context.environment)
  const { config } = settings
  const checks = [{ name: 'Barograph', ok: true, finding: packageVersion() }, checkNode(), settings.check]
  // Other checks need the settings.
  if (config === undefined) return checks
  if (config.QUESTDB_HTTP === undefined) checks.push(await checkJava(config), checkMaven(config), checkJar(config))
  checks.push(...(await checkDatabases(config)))
  checks.push(checkDataDirectory(config.DATA_DIR))
  checks.push(await checkService(context, config), ...(await checkStatus(context.client)))
  return checks
}

/** Checks given databases. Managed ones are checked by way of the service. */
async function checkDatabases(config: Config): Promise<Check[]> {
  const { DATABASE_URL, QUESTDB_HTTP, QUESTDB_PG } = config
  const checks: Check[] = []
  if (DATABASE_URL !== undefined) checks.push({ name: 'PostgreSQL', ...(await tryPostgres(DATABASE_URL)) })
  if (QUESTDB_HTTP !== undefined) checks.push({ name: 'QuestDB', ...(await tryQuestdb(QUESTDB_HTTP, QUESTDB_PG)) })
  const kafka = await tryKafka(config)
  if (kafka !== undefined) checks.push({ name: 'Kafka', ...kafka })
  return checks
}

function checkNode(): Check {
  const { node } = process.versions
  const ok = Number.parseInt(node, 10) >= nodeMajor
  const remedy = `: run the command by npx barograph, which uses Node ${nodeMajor}`
  return { name: 'Node', ok, finding: ok ? node : node + remedy }
}

function checkSettings(environment: CommandContext['environment']): { config?: Config; check: Check } {
  try {
    const config = readConfig(environment)
    const misspelt = misspeltSettings(environment).map(misspeltText)
    return {
      config,
      check: { name: 'settings', ok: misspelt.length === 0, finding: misspelt.join('; ') || 'valid' },
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { check: { name: 'settings', ok: false, finding: error.message } }
  }
}

async function checkJava({ environment, cacheDirectory }: Config): Promise<Check> {
  try {
    const { command, version } = await findJava(environment, cacheDirectory)
    return { name: 'Java', ok: true, finding: `${version}, ${command}` }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return { name: 'Java', ok: false, finding: error.message }
  }
}

function checkMaven(config: Config): Check {
  const command = findProgram('mvn', config.environment)
  if (command !== undefined) return { name: 'Maven', ok: true, finding: command }
  if (existsSync(jarOf(config))) return { name: 'Maven', ok: true, finding: 'not found; no longer needed' }
  const finding = 'no mvn on PATH, which fetches QuestDB: install it (on Debian: apt-get install maven)'
  return { name: 'Maven', ok: false, finding }
}

function checkJar(config: Config): Check {
  const jar = jarOf(config)
  // Its content is checked at each start.
  const finding = existsSync(jar) ? jar : 'not downloaded yet; the first start downloads it'
  return { name: `QuestDB ${questdbVersion}`, ok: true, finding }
}

function jarOf({ cacheDirectory }: Config): string {
  return join(cacheDirectory, 'questdb', questdbVersion, 'questdb.jar')
}

/** One that is not there yet is made by the first start, in the nearest folder that there is. */
function checkDataDirectory(path: string): Check {
  let folder = path
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  const name = 'data directory'
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return { name, ok: true, finding: folder === path ? path : `${path}; the first start creates it` }
  } catch {
    const finding = `${folder} is not writable: grant this user write permission, or set DATA_DIR to another directory`
    return { name, ok: false, finding }
  }
}

const Readiness = z.object({ status: z.string(), reasons: z.array(z.string()).default([]) })

/** Asked without the token, as a probe does. */
async function checkService({ serverOptions }: CommandContext, config: Config): Promise<Check> {
  const name = 'service'
  try {
    const url = findUrl(serverOptions(), () => config)
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(askTimeoutMs) })
    const { status, reasons } = Readiness.parse(await response.json())
    const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
    return { name, ok: status === 'ok', finding: `${status} at ${url}${why}` }
  } catch (error) {
    if (error instanceof CommandError) return { name, ok: false, finding: error.message }
    return { name, ok: false, finding: 'no response: start the service with npm start, or set its address with --url' }
  }
}

/** Without the token, the service reports only whether it is ready. */
async function checkStatus(client: AdminClient): Promise<Check[]> {
  const name = 'admin token'
  try {
    const status = await client.json(Status, 'GET', '/status')
    return [
      { name, ok: true, finding: 'accepted by the server' },
      checkVersion(status),
      ...(status.nodes ?? []).map(checkNodeOfService),
      ...writePathsOf(status).map(checkWritePath),
      ...(status.kafka?.topics ?? []).map(checkTopic),
      ...checkAlerts(status),
      ...(status.set_aside ?? []).map(({ problem }) => ({ name: 'set aside', ok: false, finding: problem })),
      ...checkRetention(status),
      checkDisk(status),
    ]
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return [{ name, ok: false, finding: error.message }]
  }
}

/** A service that was not restarted after an upgrade; one on another machine may well be of another version. */
function checkVersion({ versions }: Status): Check {
  const isSame = versions.barograph === packageVersion()
  const difference = isSame ? '' : `, and this command ${packageVersion()}: restart the service after an upgrade`
  return { name: 'server', ok: true, finding: `Barograph ${versions.barograph}${difference}` }
}

function checkNodeOfService(node: NodeStatus): Check {
  const { id, problems } = node
  return { name: `node ${id}`, ok: problems.length === 0, finding: [nodeText(node), ...problems].join('; ') }
}

function checkTopic(topic: TopicStatus): Check {
  const { problems } = topic
  return {
    name: `topic ${topic.topic}`,
    ok: problems.length === 0,
    finding: [topicText(topic), ...problems].join('; '),
  }
}

function checkAlerts({ alerts }: Status): Check[] {
  if (alerts === undefined) return []
  const { backlog, refused, partial_rules: partial } = alerts
  const finding =
    refused === 0
      ? `${backlog} changes wait`
      : `${refused} changes of alerts are not in PostgreSQL, which refuses them: see the log of the service`
  return [
    { name: 'alerts', ok: refused === 0, finding },
    ...(partial.length === 0 ? [] : [{ name: 'alert rules', ok: false, finding: partialText(partial) }]),
  ]
}

function partialText(rules: readonly number[]): string {
  return `rules ${rules.join(', ')} do not cover all devices that they select: remove rules, or raise ALERT_PAIRS_PER_OWNER`
}

function checkRetention({ retention }: Status): Check[] {
  if (retention.days === null) return []
  const problems = retentionProblems(retention)
  const finding = [retentionText(retention), ...problems].join(': ')
  return [{ name: 'retention', ok: problems.length === 0, finding }]
}

function checkDisk({ disk }: Status): Check {
  const isFillingUp = isDiskFillingUp(disk)
  const remedy = isFillingUp ? ': move DATA_DIR to a larger disk' : ''
  return { name: 'disk', ok: !isFillingUp, finding: diskText(disk) + remedy }
}

function checkWritePath(path: WritePath): Check {
  const { rows: name, deadLetters } = path
  const problems = problemsOf(path)
  if (deadLetters > 0) {
    problems.push(
      `${deadLetters} dead letters: see barograph dead-letters list --table ${name}, then replay or discard them`,
    )
  }
  return { name, ok: problems.length === 0, finding: [waitingText(path), ...problems].join('; ') }
}
