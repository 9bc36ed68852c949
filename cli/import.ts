/** `barograph import FILE…` and `import-points FILE…`: import files into a running server. */

import type { Readable } from 'node:stream'
import { type Command, Option } from 'commander'
import { decimalMarks } from '../ingest/formats/number.ts'
import type { RowKindName } from '../ingest/formats/row-kinds.ts'
import type { AdminClient } from './admin-client.ts'
import { type CommandContext, createInterrupt } from './command-context.ts'
import { CommandError, exitInterrupted, exitRejected, exitUsage } from './command-error.ts'
import { shapeOf } from './import-batches.ts'
import { type ImportTotals, importFiles, rowCount } from './import-files.ts'
import { createProgress, createRejectsFile, noProgress } from './import-output.ts'
import { type ImportState, openImportState } from './import-state.ts'
import { jsonSummary, textSummary } from './import-summary.ts'
import { createDeviceMaker, createPasswordsFile } from './import-upload.ts'
import { ambiguousHours, type MappingWords, mappingOptions, presetNames } from './mapping/mapping-options.ts'
import { collected } from './option-values.ts'
import { printText } from './output.ts'

interface ImportCommandOptions {
  /** Readings only. */
  createDevices?: boolean
  passwords?: string
  rejects?: string
  state?: string
  json?: boolean
}

type ReadingsOptions = ImportCommandOptions & MappingWords

/** The streams of the process. A test hands in its own. */
export interface ImportStreams {
  stdin: Readable
  stdout: Pick<NodeJS.WriteStream, 'write'>
  stderr: NodeJS.WriteStream
}

const idempotent = 'Imports are idempotent: an interrupted\nimport can be run again.'

const readingsHelp = `
The header of a CSV file names its columns, in any order:
  timestamp,device,temperature,humidity,pressure[,battery_voltage,battery_percentage][,other metrics]
Cells are separated by commas, semicolons or tabs; all numbers of the file have the same decimal mark. Times are
ISO 8601 with a time zone, or epoch milliseconds. An empty cell is a missing value, as is NA. JSON arrays and line protocol are read
too. ${idempotent}

Files with other columns: --preset for files of another program, --map for any, --zone for times without a time zone:
  --map 'temperature="Outdoor Temp(°F)":F,humidity=RH,timestamp=Time:mdy,device==porch'
Two equals signs stand before a constant, a colon before a unit (C F K, hPa inHg, m/s km/h mph kn, mm in, ppm, V mV, …) or
a format of times (mdy, dmy, s, ms, us, ns); timestamp=Date+Time joins two columns. Nothing is sent while a file can be read in
two ways; the message names the option that decides. docs/import.md has more.
${exitStatus('readings')}`

const pointsHelp = `
The header of a CSV file names its columns, in any order; a line of NDJSON has the same fields:
  timestamp,sn,parameter,unit,value
Stations must exist (barograph stations add). Times are ISO 8601, whole seconds, in UTC unless they have a time zone. A point
replaces an earlier one of the same station, parameter and time. ${idempotent}
${exitStatus('points')}`

const precisions = ['ns', 'us', 'ms', 's']

function exitStatus(kind: RowKindName): string {
  return `
Exit status: 0 all lines were stored, ${exitRejected} some were rejected, 1 the import failed, or the files
contain no ${kind}.`
}

export function defineImport(command: Command, context: CommandContext): void {
  define(command, context, 'readings')
    .option('--create-devices', 'add unknown devices and print their passwords (shown only once)')
    .option('--passwords <file>', 'write those passwords to a new file with mode 0600 instead')
    .addOption(new Option('--preset <name>', 'read the files of another program').choices(presetNames))
    .option('--map <fields>', 'from which columns the fields come, as described below', collected)
    .option('--unit <units>', 'units of metrics where the file states none, such as temperature=degF', collected)
    .option('--zone <name>', 'time zone of times that name none, such as Europe/Zurich')
    .addOption(
      new Option('--ambiguous <hour>', 'of an hour that comes twice, where order does not decide').choices(
        ambiguousHours,
      ),
    )
    .addOption(new Option('--precision <unit>', 'unit of the times in line protocol').choices(precisions).default('ns'))
    .addHelpText('after', readingsHelp)
}

export function defineImportPoints(command: Command, context: CommandContext): void {
  define(command, context, 'points').addHelpText('after', pointsHelp)
}

function define(command: Command, { client, streams }: CommandContext, kind: RowKindName): Command {
  return command
    .argument('<file...>', 'files to import, or - for standard input')
    .option('--rejects <file>', 'write each rejected line to this CSV file, with its line number and the reason')
    .addOption(new Option('--decimal <mark>', 'decimal mark of numbers in CSV').choices(decimalMarks))
    .option('--state <file>', 'keep in this file how far the import is; the same command goes on from there')
    .option('--json', 'print the result as JSON, without progress')
    .action(async (files: string[], options: ReadingsOptions) => {
      await runImport(kind, files, options, client, streams)
    })
}

async function runImport(
  kind: RowKindName,
  files: readonly string[],
  options: ReadingsOptions,
  client: AdminClient,
  { stdin, stdout, stderr }: ImportStreams,
): Promise<void> {
  const startedMs = Date.now()
  const mapping = mappingOptions(options)
  const totals: ImportTotals = {
    files: [],
    accepted: 0,
    replaced: 0,
    rejected: 0,
    rejects: [],
    leftOut: 0,
    leftOutLines: [],
  }
  const passwordsFile = options.passwords === undefined ? undefined : createPasswordsFile(options.passwords)
  const state = openState(kind, files, options)
  const rejectsFile = options.rejects === undefined ? undefined : createRejectsFile(options.rejects, state.isContinued)
  const devices = createDeviceMaker(client, made => passwordsFile?.add(made))
  const progress = stderr.isTTY && options.json !== true ? createProgress(files, stderr, Date.now) : noProgress
  const interrupt = createInterrupt()
  let fault: unknown
  try {
    const created = options.createDevices === true ? devices : undefined
    await importFiles(files, totals, {
      kind,
      mapping,
      client,
      stdin,
      progress,
      devices: created,
      rejectsFile,
      state,
      signal: interrupt.signal,
    })
  } catch (error) {
    // It is thrown after the summary, which has passwords that cannot be requested again.
    fault = error
  }
  if (fault === undefined && !interrupt.signal.aborted) state.remove()
  interrupt.stop()
  progress.stop()
  rejectsFile?.close()
  passwordsFile?.close()
  const summary = {
    kind,
    totals,
    complete: fault === undefined && !interrupt.signal.aborted,
    seconds: (Date.now() - startedMs) / 1000,
    made: devices.made,
    passwordsPath: options.passwords,
    rejectsPath: options.rejects,
  }
  printText(stdout, options.json === true ? jsonSummary(summary) : textSummary(summary))
  if (fault !== undefined) throw fault
  if (interrupt.signal.aborted)
    throw new CommandError('interrupted; run the same command again to complete it', exitInterrupted)
  if (rowCount(totals) === 0) throw new CommandError(`the files contain no ${kind}`)
  if (totals.rejected > 0) throw new CommandError(`rejected lines: ${totals.rejected}`, exitRejected)
}

/** The state includes the options that batches depend on, so that a different command starts from the beginning. */
function openState(kind: RowKindName, files: readonly string[], options: ReadingsOptions): ImportState {
  if (options.state !== undefined && files.includes('-')) {
    throw new CommandError('an import from standard input cannot be continued; leave out --state', exitUsage)
  }
  const { preset, map, unit, zone, ambiguous, decimal, precision } = options
  const { linesMax, chunkBytes } = shapeOf(kind)
  const asked = { kind, preset, map, unit, zone, ambiguous, decimal, precision, linesMax, chunkBytes }
  return openImportState(options.state, JSON.stringify(asked))
}
