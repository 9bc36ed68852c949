/** Arguments for a program of Kafka: its classes, and an archive of them that halves the time of a start (JEP 350). */

import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { JarOptions } from '../../../store/maven/maven-fetch.ts'
import type { Environment } from '../../../store/process/find-program.ts'
import { findJava, javaEnvironment, mavenEnvironment } from '../../../store/questdb/java.ts'
import { kafkaJars } from './kafka-jars.ts'

export interface KafkaJava {
  command: string
  /** These arguments precede the name of the class. */
  args: readonly string[]
  environment: Environment
}

const memoryFlags = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:+ExitOnOutOfMemoryError']
const quietFlags = ['-XX:-UsePerfData', '-Xlog:cds=off', '-Xlog:cds+dynamic=off']
/** Warnings, and one sentence when it is up. */
const logFlags = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
]

/**
 * Fetches Kafka when it is not in the cache. Without an archive of this Kafka and this Java, `makeArchive` is called: it runs
 * programs with these options until their classes are loaded, ends them by SIGTERM, and returns false when one had to be killed.
 */
export async function prepareKafkaJava(
  options: JarOptions,
  makeArchive: (java: KafkaJava, folder: string) => Promise<boolean>,
): Promise<KafkaJava> {
  const { cacheDirectory, environment } = options
  const java = await findJava(environment, cacheDirectory)
  const maven = mavenEnvironment(environment, java, cacheDirectory)
  const jarFolder = await kafkaJars({ ...options, environment: maven })
  const archive = join(dirname(jarFolder), `classes-java-${java.version}.jsa`)
  const classPath = readdirSync(jarFolder)
    .sort()
    .map(name => join(jarFolder, name))
  const run = (archiveFlag: string): KafkaJava => ({
    command: java.command,
    args: [archiveFlag, ...memoryFlags, ...quietFlags, ...logFlags, '-cp', classPath.join(':')],
    environment: withoutOptions(javaEnvironment(environment)),
  })
  if (!existsSync(archive)) {
    const folder = mkdtempSync(join(tmpdir(), 'barograph-kafka-classes-'))
    const unfinished = `${archive}-${randomBytes(8).toString('hex')}`
    try {
      const isWhole = await makeArchive(run(`-XX:ArchiveClassesAtExit=${unfinished}`), folder)
      // A start without the archive is slower. Another process may have been first.
      if (isWhole && existsSync(unfinished)) renameSync(unfinished, archive)
    } finally {
      rmSync(unfinished, { force: true })
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  return run(`-XX:SharedArchiveFile=${archive}`)
}

/** Java options for QuestDB may name an archive of its classes. */
function withoutOptions({
  JAVA_TOOL_OPTIONS,
  JDK_JAVA_OPTIONS,
  ...others
}: Record<string, string | undefined>): Environment {
  return others
}
