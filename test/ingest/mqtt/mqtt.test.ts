/** The MQTT listener alone, with a journal whose outcomes the test decides. */

import './conformance.ts'
import './decoded-listener.ts'
import './listener.ts'
import './session.ts'
import './version-5.ts'
