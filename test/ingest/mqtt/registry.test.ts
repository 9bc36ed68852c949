/** The MQTT listener with registries in a real PostgreSQL. */

import './api-keys.ts'
import './further-metrics.ts'
