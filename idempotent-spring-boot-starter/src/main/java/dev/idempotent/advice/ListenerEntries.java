package dev.idempotent.advice;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;

/**
 * Watches how the calls of a listener reach its method through the advice of the
 * application, which could leave the call out, repeat it, make it on another thread, or
 * hide its exception. Two advisors are added to the innermost proxy of the bean: one
 * marks the call, the other one is next to the method.
 */
public final class ListenerEntries {

	private static final String MARK = ListenerEntries.class.getName() + ".MARK";

	private static final ThreadLocal<@Nullable Call> CURRENT = new ThreadLocal<>();

	private final ListenerMethod listener;

	private final boolean once;

	private final boolean replayed;

	private final Advisor outermost = new Watch(this::mark);

	private final Advisor innermost = new Watch(this::enter);

	/**
	 * Creates a watch of a method.
	 * @param listener the method
	 * @param once whether a call must enter the method exactly once
	 * @param replayed whether a call need not enter it, because {@code @Idempotent} knows
	 * its result
	 */
	public ListenerEntries(ListenerMethod listener, boolean once, boolean replayed) {
		this.listener = listener;
		this.once = once;
		this.replayed = replayed;
	}

	/**
	 * Watches calls from now on. The target of a scoped proxy is unknown until it is
	 * called.
	 * @throws dev.idempotent.IdempotentConfigurationException if a proxy of the bean
	 * accepts no advice
	 */
	public void begin() {
		if (!(this.listener.target() instanceof Advised proxy) || proxy.getTargetSource().isStatic()) {
			try {
				boolean unused = watch();
			}
			catch (IllegalStateException ex) {
				throw this.listener.method()
					.invalid(
							"belongs to a proxy of the application that is frozen or opaque, so that its calls cannot be "
									+ "watched",
							"Annotate a method of another bean.", ex);
			}
		}
	}

	/**
	 * Adds the advisors, unless they are there.
	 * @return {@code false} if the bean has no proxy, so that nothing is between
	 */
	private synchronized boolean watch() {
		return InnermostAdvice.surround(this.listener.target(), this.outermost, this.innermost);
	}

	/**
	 * Calls the method, and returns only if the method itself is known to have returned.
	 * @param arguments the arguments
	 * @throws AdviceException if it is not
	 * @throws Throwable what the call throws
	 */
	public void call(@Nullable Object[] arguments) throws Throwable {
		if (!watch()) {
			this.listener.invoke(arguments);
			return;
		}
		Call call = new Call();
		CURRENT.set(call);
		try {
			this.listener.invoke(arguments);
		}
		finally {
			CURRENT.remove();
		}
		call.requireReturn();
	}

	/**
	 * A handler may call others.
	 */
	private @Nullable Call current() {
		Call call = CURRENT.get();
		return (call != null && call.isOf(this)) ? call : null;
	}

	/**
	 * Advice may pass the call to another thread.
	 */
	private @Nullable Object mark(MethodInvocation invocation) throws Throwable {
		Call call = current();
		if (call != null && invocation instanceof ProxyMethodInvocation marked) {
			marked.setUserAttribute(MARK, call);
		}
		return invocation.proceed();
	}

	private @Nullable Object enter(MethodInvocation invocation) throws Throwable {
		Object marked = (invocation instanceof ProxyMethodInvocation call) ? call.getUserAttribute(MARK) : null;
		Call call = (marked != null) ? (Call) marked : current();
		if (call == null || call.isInside()) {
			return invocation.proceed();
		}
		call.enter();
		try {
			Object result = invocation.proceed();
			call.leave(null);
			return result;
		}
		catch (Throwable ex) {
			call.leave(ex);
			throw ex;
		}
	}

	/**
	 * A call by the relay. Changed by its thread only.
	 */
	private final class Call {

		private final Thread thread = Thread.currentThread();

		private int entries;

		private boolean inside;

		private boolean returned;

		private @Nullable Throwable failure;

		boolean isOf(ListenerEntries entries) {
			return entries == ListenerEntries.this;
		}

		/**
		 * A method can call itself through its proxy.
		 */
		boolean isInside() {
			return this.inside && this.thread == Thread.currentThread();
		}

		void enter() {
			if (this.thread != Thread.currentThread()) {
				throw failure("calls it on another thread, outside of its transaction and context", null);
			}
			this.entries++;
			this.returned = false;
			if (ListenerEntries.this.once && this.entries > 1) {
				throw failure("calls it again within one transaction", this.failure);
			}
			this.inside = true;
		}

		void leave(@Nullable Throwable failure) {
			this.inside = false;
			this.returned = failure == null;
			this.failure = failure;
		}

		void requireReturn() {
			if (this.entries == 0 && !ListenerEntries.this.replayed) {
				throw failure("has not called it", null);
			}
			if (this.entries > 0 && !this.returned) {
				throw failure("has hidden its failure", this.failure);
			}
			if (ListenerEntries.this.once && this.entries > 1) {
				throw failure("calls it again within one transaction", this.failure);
			}
		}

		private AdviceException failure(String what, @Nullable Throwable cause) {
			return new AdviceException("Other advice of the handler " + what, cause);
		}

	}

	private final class Watch extends StaticMethodMatcherPointcutAdvisor {

		Watch(MethodInterceptor advice) {
			setAdvice(advice);
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return AopUtils.getMostSpecificMethod(method, targetClass)
				.equals(AopUtils.getMostSpecificMethod(ListenerEntries.this.listener.method().method(), targetClass));
		}

	}

	/**
	 * Thrown if the method is not known to have returned. Its message is one for
	 * operators.
	 */
	public static final class AdviceException extends IllegalStateException {

		AdviceException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

	}

}
