@NullMarked
package dev.idempotent.token;

import org.jspecify.annotations.NullMarked;
