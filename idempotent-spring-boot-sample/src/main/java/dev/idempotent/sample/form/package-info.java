/**
 * An order form without JavaScript: a one-time token makes each rendered form one order.
 */
@NullMarked
package dev.idempotent.sample.form;

import org.jspecify.annotations.NullMarked;
