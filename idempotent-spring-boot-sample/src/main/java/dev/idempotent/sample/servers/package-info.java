/**
 * Embedded servers for an application whose servers are not configured, so that the shop
 * needs only a JDK.
 */
@NullMarked
package dev.idempotent.sample.servers;

import org.jspecify.annotations.NullMarked;
