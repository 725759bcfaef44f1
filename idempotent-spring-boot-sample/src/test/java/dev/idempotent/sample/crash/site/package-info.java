/**
 * Servers, networks and instances of the packaged shop that can be crashed, each a
 * process of its own that dies with this JVM.
 */
@NullMarked
package dev.idempotent.sample.crash.site;

import org.jspecify.annotations.NullMarked;
