/** `barograph`: the command line, a client of the admin API. */

import type { Readable } from 'node:stream'
import { Command } from 'commander'
import { ConfigError, readConfig } from '../api/config.ts'
import { addAccountsCommand } from './accounts.ts'
import { createAdminClient } from './admin-client.ts'
import { addAuditCommand } from './audit.ts'
import { addBackupCommands } from './backup.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { addContentFilesCommand } from './content-files.ts'
import { addDeadLettersCommand } from './dead-letters.ts'
import { addDevicesCommand } from './devices.ts'
import { addDoctorCommand } from './doctor.ts'
import { addExportCommand } from './export.ts'
import { findServer, type ServerOptions } from './find-server.ts'
import { addImportCommands } from './import.ts'
import { addKeysCommand } from './keys.ts'
import { printText } from './output.ts'
import { addStationsCommand } from './stations.ts'
import { addStatusCommand } from './status.ts'
import { addTenantsCommand } from './tenants.ts'

export interface ProgramOptions {
  stdin: Readable
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
  environment: Record<string, string | undefined>
  version: string
}

const help = `
Examples:
  barograph start                                    run the service
  barograph doctor                                   check the requirements
  barograph devices add kitchen --location-short Kitchen
  barograph devices list --search kit
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

export function createProgram({ stdin, stdout, stderr, environment, version }: ProgramOptions): Command {
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

  const readSettings = () => settingsFrom(environment)
  const serverOptions = () => program.opts<ServerOptions>()
  const client = createAdminClient(() => findServer(serverOptions(), readSettings))
  const streams = { stdin, stdout, stderr }
  addStartCommand(program)
  addDoctorCommand(program, { client, streams, environment, serverOptions })
  addStatusCommand(program, client, streams)
  addDevicesCommand(program, client, streams)
  addStationsCommand(program, client, streams)
  addAccountsCommand(program, client, streams)
  addTenantsCommand(program, client, streams)
  addAuditCommand(program, client, streams)
  addImportCommands(program, client, streams)
  addExportCommand(program, client, stdout)
  addContentFilesCommand(program, client, streams)
  addDeadLettersCommand(program, client, streams)
  addKeysCommand(program, client, streams)
  addBackupCommands(program, client, streams, readSettings)
  return program
}

/** For the help; bin/launch.cjs starts the service itself, without what the command line loads. */
function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('run the service until Ctrl-C; barograph start --help lists its settings')
    .allowExcessArguments()
    .allowUnknownOption()
    .action(() => {
      throw new CommandError('"start" must be the first argument: barograph start', exitUsage)
    })
}

function settingsFrom(environment: Record<string, string | undefined>) {
  try {
    return readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message)
    throw error
  }
}
