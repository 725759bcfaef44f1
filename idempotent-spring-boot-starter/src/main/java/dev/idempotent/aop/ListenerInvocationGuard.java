package dev.idempotent.aop;

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
 * hide its exception. Two advisors are added to each proxy of the bean: the first one
 * marks the call, the last one is next to the method or to the next proxy.
 */
public final class ListenerInvocationGuard {

	private static final String MARK = ListenerInvocationGuard.class.getName() + ".MARK";

	private static final ThreadLocal<@Nullable Call> CURRENT = new ThreadLocal<>();

	private final ListenerMethod listener;

	private final boolean once;

	private final Advisor first = new Watch(this::mark);

	private final Advisor last = new Watch(this::pass);

	private final Advisor innermost = new Watch(this::enter);

	/**
	 * Creates a watch of a method.
	 * @param listener the method
	 * @param once whether a call must enter the method exactly once
	 */
	public ListenerInvocationGuard(ListenerMethod listener, boolean once) {
		this.listener = listener;
		this.once = once;
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
		return InnermostAdvice.surround(this.listener.target(), this.first, this.last, this.innermost);
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
	 * Reports that the result of a call is known, so that it need not enter the method.
	 * Has no effect on a call that is not one of a listener.
	 * @param invocation the call
	 */
	public static void replayed(MethodInvocation invocation) {
		Call call = CURRENT.get();
		Object target = invocation.getThis();
		if (call != null && target != null && call.isOf(invocation.getMethod(), target.getClass())) {
			call.replayed = true;
		}
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

	/**
	 * The next proxy would not know the call on another thread.
	 */
	private @Nullable Object pass(MethodInvocation invocation) throws Throwable {
		Call call = marked(invocation);
		if (call != null) {
			call.requireThread();
		}
		return invocation.proceed();
	}

	private @Nullable Call marked(MethodInvocation invocation) {
		Object marked = (invocation instanceof ProxyMethodInvocation call) ? call.getUserAttribute(MARK) : null;
		return (marked != null) ? (Call) marked : current();
	}

	private @Nullable Object enter(MethodInvocation invocation) throws Throwable {
		Call call = marked(invocation);
		if (call == null || call.isInside()) {
			return invocation.proceed();
		}
		call.enter();
		try {
			Object result = invocation.proceed();
			call.watched.leave(null);
			return result;
		}
		catch (Throwable ex) {
			call.watched.leave(ex);
			throw ex;
		}
	}

	private boolean isListener(Method method, Class<?> targetClass) {
		return AopUtils.getMostSpecificMethod(method, targetClass)
			.equals(AopUtils.getMostSpecificMethod(this.listener.method().method(), targetClass));
	}

	/**
	 * A call by the relay.
	 */
	private final class Call {

		private final WatchedCall watched = new WatchedCall();

		private volatile boolean replayed;

		boolean isOf(ListenerInvocationGuard entries) {
			return entries == ListenerInvocationGuard.this;
		}

		boolean isOf(Method method, Class<?> targetClass) {
			return ListenerInvocationGuard.this.isListener(method, targetClass);
		}

		/**
		 * A method can call itself through its proxy.
		 */
		boolean isInside() {
			return this.watched.isInside() && this.watched.isOnItsThread();
		}

		void requireThread() {
			if (!this.watched.isOnItsThread()) {
				throw failure("calls it on another thread, outside of its transaction and context", null);
			}
		}

		void enter() {
			requireThread();
			this.watched.enter();
			if (ListenerInvocationGuard.this.once && this.watched.entries() > 1) {
				throw failure("calls it again within one transaction", this.watched.failure());
			}
		}

		void requireReturn() {
			int entries = this.watched.entries();
			if (entries == 0 && !this.replayed) {
				throw failure("has not called it", null);
			}
			if (entries > 0 && !this.watched.isReturned()) {
				throw failure("has hidden its failure", this.watched.failure());
			}
			if (ListenerInvocationGuard.this.once && entries > 1) {
				throw failure("calls it again within one transaction", this.watched.failure());
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
			return isListener(method, targetClass);
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
