package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.web.method.HandlerMethod;

/**
 * A handler method.
 *
 * @param type the class of the bean
 * @param method its method
 */
record Handler(Class<?> type, Method method) {

	static Handler of(HandlerMethod handler) {
		return new Handler(handler.getBeanType(), handler.getMethod());
	}

	/**
	 * Describes the method in messages.
	 */
	String describe() {
		return IdempotentConfigurationException.describe(this.type, this.method);
	}

}
