/**
 * `barograph`: the command line, a client of the admin API. Its commands are loaded when they are used, for all of them
 * together take many times as long to load as Node itself.
 */

import { Command, CommanderError } from 'commander'
import type { Define, Surroundings } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import type { ServerOptions } from './find-server.ts'
import { printText } from './output.ts'

interface ProgramOptions extends Surroundings {
  version: string
}

interface Entry {
  description: string
  load: () => Promise<Define>
}

const commands: Readonly<Record<string, Entry>> = {
  start: {
    description: 'run the service until Ctrl-C; barograph start --help lists its settings',
    load: async () => defineStart,
  },
  init: {
    description: 'set up the first account, the first device and a systemd unit, by questions or options',
    load: async () => (await import('./init.ts')).defineInit,
  },
  doctor: {
    description: 'check the requirements and the running service; each problem comes with a fix',
    load: async () => (await import('./doctor.ts')).defineDoctor,
  },
  status: {
    description: 'show versions, databases, journal, lag and disk space of the server',
    load: async () => (await import('./status.ts')).defineStatus,
  },
  devices: {
    description: 'manage devices and their passwords',
    load: async () => (await import('./devices.ts')).defineDevices,
  },
  metrics: {
    description: 'manage what devices measure: names, units, kinds, ranges',
    load: async () => (await import('./metrics.ts')).defineMetrics,
  },
  decoders: {
    description: 'manage decoders of messages that sensors send in formats of their own',
    load: async () => (await import('./metrics.ts')).defineDecoders,
  },
  alerts: {
    description: 'show and acknowledge alerts; manage their rules, channels and silences',
    load: async () => (await import('./alerts.ts')).defineAlerts,
  },
  annotations: {
    description: 'manage what people have written in the charts of devices',
    load: async () => (await import('./annotations.ts')).defineAnnotations,
  },
  stations: {
    description: 'manage stations of the air-quality network',
    load: async () => (await import('./stations.ts')).defineStations,
  },
  accounts: {
    description: 'manage the accounts of people',
    load: async () => (await import('./accounts.ts')).defineAccounts,
  },
  tenants: {
    description: 'manage partners for the tenant exchange',
    load: async () => (await import('./accounts.ts')).defineTenants,
  },
  audit: {
    description: 'show who did what, newest first',
    load: async () => (await import('./accounts.ts')).defineAudit,
  },
  import: {
    description: 'import readings from CSV, NDJSON, JSON or line protocol, plain, gzip or zstd',
    load: async () => (await import('./import.ts')).defineImport,
  },
  'import-points': {
    description: 'import points from CSV, NDJSON or JSON files, plain, gzip or zstd',
    load: async () => (await import('./import.ts')).defineImportPoints,
  },
  export: {
    description: 'export readings',
    load: async () => (await import('./export.ts')).defineExport,
  },
  'content-files': {
    description: 'manage the content-file listing',
    load: async () => (await import('./content-files.ts')).defineContentFiles,
  },
  'dead-letters': {
    description: 'list, replay and discard readings and points that QuestDB rejected',
    load: async () => (await import('./dead-letters.ts')).defineDeadLetters,
  },
  rejections: {
    description: 'show readings that were not taken, and why',
    load: async () => (await import('./dead-letters.ts')).defineRejections,
  },
  keys: {
    description: 'make, list and revoke the API keys of people',
    load: async () => (await import('./accounts.ts')).defineKeys,
  },
  retention: {
    description: 'confirm that raw readings expire which wait for a person',
    load: async () => (await import('./archive.ts')).defineRetention,
  },
  archive: {
    description: 'list, verify and restore days of raw rows outside of QuestDB',
    load: async () => (await import('./archive.ts')).defineArchive,
  },
  kafka: {
    description: 'make the topics of Kafka that are the journals, and show them',
    load: async () => (await import('./kafka.ts')).defineKafka,
  },
  replicas: {
    description: 'show the replicas of QuestDB, make one from another, send records again',
    load: async () => (await import('./replicas.ts')).defineReplicas,
  },
  backup: {
    description: 'copy everything that the running service stores into a folder',
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  restore: {
    description: 'check a backup and restore it into an empty data directory',
    load: async () => (await import('./backup.ts')).defineRestore,
  },
}

const help = `
Examples:
  barograph start                                    run the service
  barograph init                                     set up the first account and device
  barograph doctor                                   check the requirements
  barograph devices add kitchen --location-short Kitchen
  barograph devices list --search kit
  barograph metrics list --search wind
  barograph alerts list --state firing
  barograph accounts add ada@example.com --role administrator
  barograph import history.csv.gz --create-devices
  barograph import-points october.csv.gz
  barograph export --output 2026.csv.gz --from 2026-01-01
  barograph content-files import files.ndjson.gz
  barograph backup /backups/today
  barograph status --json

The commands find the server by its own settings (HOST, PORT, DATA_DIR, …), or by --url and --token-file.
In a checkout or beside an installed package, run: npx barograph <command>

Exit status: 0 success, 1 failure, 2 usage error.`

function createProgram({ version, ...surroundings }: ProgramOptions): Command {
  const { stdout, stderr } = surroundings
  const program = new Command('barograph')
    .description('run and administer a Barograph server')
    .option('--url <address>', 'server address, such as http://127.0.0.1:8080')
    .option('--token-file <file>', 'file with the admin token (default: secrets/admin-token in DATA_DIR)')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', help)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: text => printText(stdout, text), writeErr: text => printText(stderr, text) })
    .showHelpAfterError('Use --help for the options.')
    .exitOverride()
  for (const [name, { description }] of Object.entries(commands)) program.command(name).description(description)
  return program.hook('preSubcommand', (_, command) => defineCommand(program, command, surroundings))
}

/** Defines all commands, for documentation. */
export async function createWholeProgram(options: ProgramOptions): Promise<Command> {
  const program = createProgram(options)
  for (const command of program.commands) await defineCommand(program, command, options)
  return program
}

async function defineCommand(program: Command, command: Command, surroundings: Surroundings): Promise<void> {
  const define = await commands[command.name()]?.load()
  const { createCommandContext } = await import('./command-context.ts')
  define?.(
    command,
    createCommandContext(surroundings, () => program.opts<ServerOptions>()),
  )
}

/** Defines it for the help only. bin/launch.cjs starts the service without loading the command line. */
function defineStart(command: Command): void {
  command
    .allowExcessArguments()
    .allowUnknownOption()
    .action(() => {
      throw new CommandError('"start" must be the first argument: barograph start', exitUsage)
    })
}

/** Runs one command and returns its exit status. */
export async function runCommand(words: readonly string[], options: ProgramOptions): Promise<number> {
  try {
    await createProgram(options).parseAsync(withHelpAsOption(words), { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommandError) {
      printText(options.stderr, `barograph: ${error.message}\n`)
      return error.exitStatus
    }
    // Commander has printed the error. Its exit code is 0 for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage
    throw error
  }
}

/** `help devices add` is `devices add --help`: the command of Commander's own does not wait until a command is defined. */
function withHelpAsOption(words: readonly string[]): readonly string[] {
  const [first, ...rest] = words
  return first === 'help' ? [...rest, '--help'] : words
}
