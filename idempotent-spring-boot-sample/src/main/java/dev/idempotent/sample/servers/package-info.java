/**
 * Starts real servers for an application that was not told where its own ones are: the\n
 * * shop needs a JDK and nothing else.
 */
@NullMarked
package dev.idempotent.sample.servers;

import org.jspecify.annotations.NullMarked;
