/** The managed QuestDB's program: one pinned jar. */

import { fileURLToPath } from 'node:url'
import { fetchJars, type JarOptions } from '../maven/maven-fetch.ts'

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
