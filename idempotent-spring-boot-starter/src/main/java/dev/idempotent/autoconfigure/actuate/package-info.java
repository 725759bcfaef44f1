/**
 * Auto-configuration of what operators see: endpoints, health, meters and traces.
 */
@NullMarked
package dev.idempotent.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
