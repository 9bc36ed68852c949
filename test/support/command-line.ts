/** The command line as a person sees it, in the process of the test: one for each command would cost ten times as much. */

import { Readable, Writable } from 'node:stream'
import { runCommand } from '../../cli/program.ts'

export interface CommandRun {
  status: number
  stdout: string
  stderr: string
}

export interface CommandSettings {
  environment?: Record<string, string>
  stdin?: string
}

/** Runs `barograph` with these words, isolated from other settings of this machine. */
export async function barograph(
  words: readonly string[],
  { environment = {}, stdin = '' }: CommandSettings = {},
): Promise<CommandRun> {
  // The runner's options for Java halve the processor time that a restore's QuestDB takes to start.
  const { PATH = '', HOME = '', JAVA_TOOL_OPTIONS = '' } = process.env
  const [stdout, stderr] = [collector(), collector()]
  const status = await runCommand(words, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    environment: { PATH, HOME, JAVA_TOOL_OPTIONS, ...environment },
    version: '0.0.0',
  })
  return { status, stdout: stdout.text(), stderr: stderr.text() }
}

function collector(): { stream: NodeJS.WriteStream; text: () => string } {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write(piece, _encoding, done) {
      text += piece
      done()
    },
  })
  return { stream: stream as NodeJS.WriteStream, text: () => text }
}
