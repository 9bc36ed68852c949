/** The MQTT listener with registries in a real PostgreSQL. */

import './api-keys.ts'
import './custom-metrics.ts'
