/**
 * What a request costs between the socket and the store, step by step, measured by JMH.
 */
@NullMarked
package dev.idempotent.benchmark.micro;

import org.jspecify.annotations.NullMarked;
