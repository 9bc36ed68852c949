/** The Kafka that demos and tests start: pinned jars. */

import { fileURLToPath } from 'node:url'
import { fetchJars, type JarOptions } from '../../../store/maven/maven-fetch.ts'

/** The same version stands in pom.xml. */
const version = '4.4.0'

/** The path of the folder with the jars, after a fetch when they are not there yet. */
export function kafkaJars(options: JarOptions): Promise<string> {
  const jars = {
    name: 'Kafka',
    version,
    pomPath: fileURLToPath(new URL('pom.xml', import.meta.url)),
    folderName: 'kafka',
    sha256: '2dc289ad803b1278e1a75602559263b7b1c23da25af19f57cde1bc70e1b460d2',
    goalOptions: ['-DincludeScope=runtime'],
    megabytes: 45,
    mavenFolder: ['org', 'apache', 'kafka', 'kafka-clients', version],
    giveInstead: undefined,
  }
  return fetchJars(jars, options)
}
