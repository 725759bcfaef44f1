package dev.idempotent.outbox.method;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import dev.idempotent.outbox.TransactionalOutbox;
import org.springframework.transaction.annotation.Transactional;

/**
 * An application's own annotation.
 */
@Transactional
@TransactionalOutbox(type = "order.placed", key = "#result.id")
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Placed {

}
