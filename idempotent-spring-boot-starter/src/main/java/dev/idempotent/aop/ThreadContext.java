package dev.idempotent.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.springframework.context.i18n.LocaleContext;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolderStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * What code attaches to its thread, beside transactions. Each part can be detached, and
 * put back by the {@link Runnable} that this returns.
 */
public final class ThreadContext {

	private static final boolean SECURITY = isPresent(
			"org.springframework.security.core.context.SecurityContextHolder");

	private static final boolean WEB = isPresent("org.springframework.web.context.request.RequestContextHolder");

	private ThreadContext() {
	}

	/**
	 * Detaches the request, the principal, the locale and the MDC.
	 * @return puts back what the thread had, and removes what has been attached since
	 */
	public static Runnable detach() {
		List<Runnable> all = List.of(detachRequest(), detachPrincipal(), detachLocale(), detachMdc());
		return () -> all.forEach(Runnable::run);
	}

	/**
	 * Detaches the request, if there is Spring Web.
	 * @return puts it back
	 */
	public static Runnable detachRequest() {
		return WEB ? Request.detach() : ThreadContext::putNothingBack;
	}

	/**
	 * Detaches the principal, if there is Spring Security.
	 * @return puts it back
	 */
	public static Runnable detachPrincipal() {
		return SECURITY ? Principal.detach() : ThreadContext::putNothingBack;
	}

	private static void putNothingBack() {
	}

	private static Runnable detachLocale() {
		LocaleContext own = LocaleContextHolder.getLocaleContext();
		LocaleContextHolder.resetLocaleContext();
		return () -> LocaleContextHolder.setLocaleContext(own);
	}

	private static Runnable detachMdc() {
		@Nullable Map<String, String> own = MDC.getCopyOfContextMap();
		MDC.clear();
		return () -> {
			MDC.clear();
			if (own != null) {
				MDC.setContextMap(own);
			}
		};
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, ThreadContext.class.getClassLoader());
	}

	private static final class Principal {

		private Principal() {
		}

		/**
		 * Does not read the context of the thread, which may come from a session, except
		 * from a strategy that does not defer it: that would read it when it is put back.
		 */
		static Runnable detach() {
			SecurityContextHolderStrategy strategy = SecurityContextHolder.getContextHolderStrategy();
			Method deferred = ReflectionUtils.findMethod(strategy.getClass(), "getDeferredContext");
			SecurityContext read = (deferred != null && deferred.isDefault()) ? strategy.getContext() : null;
			Supplier<SecurityContext> own = (read != null) ? () -> read : strategy.getDeferredContext();
			strategy.setContext(strategy.createEmptyContext());
			return () -> strategy.setDeferredContext(own);
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
