package dev.idempotent.saga.method;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Detaches a run from the request whose thread it uses. The first run of a body then has
 * neither a principal nor a request, like later runs on worker threads.
 */
final class DetachedThread {

	private static final boolean SECURITY = isPresent(
			"org.springframework.security.core.context.SecurityContextHolder");

	private static final boolean WEB = isPresent("org.springframework.web.context.request.RequestContextHolder");

	private DetachedThread() {
	}

	/**
	 * Runs a body. Restores the principal and the request afterwards.
	 */
	static @Nullable Object run(Body body) throws Throwable {
		Runnable request = WEB ? Request.detach() : null;
		try {
			return SECURITY ? runWithoutPrincipal(body) : body.run();
		}
		finally {
			if (request != null) {
				request.run();
			}
		}
	}

	private static @Nullable Object runWithoutPrincipal(Body body) throws Throwable {
		Runnable principal = Principal.detach();
		try {
			return body.run();
		}
		finally {
			principal.run();
		}
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, DetachedThread.class.getClassLoader());
	}

	/**
	 * One run of the body of a saga.
	 */
	@FunctionalInterface
	interface Body {

		@Nullable Object run() throws Throwable;

	}

	private static final class Principal {

		private Principal() {
		}

		/**
		 * Does not read the context of the thread, which may come from a session.
		 */
		static Runnable detach() {
			Supplier<SecurityContext> own = SecurityContextHolder.getDeferredContext();
			SecurityContextHolder.setContext(SecurityContextHolder.createEmptyContext());
			return () -> SecurityContextHolder.setDeferredContext(own);
		}

	}

	private static final class Request {

		private Request() {
		}

		static Runnable detach() {
			RequestAttributes own = RequestContextHolder.getRequestAttributes();
			RequestContextHolder.resetRequestAttributes();
			return () -> RequestContextHolder.setRequestAttributes(own);
		}

	}

}
