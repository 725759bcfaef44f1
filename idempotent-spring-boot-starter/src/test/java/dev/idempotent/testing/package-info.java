/**
 * The real servers that integration tests run against: from a container where the local
 * Docker engine has the image, from an embedded binary everywhere else. Tests see an
 * address, never where it came from.
 */
@NullMarked
package dev.idempotent.testing;

import org.jspecify.annotations.NullMarked;
