package dev.idempotent.testing;

import io.micrometer.context.ContextRegistry;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.core.OverridingClassLoader;

/**
 * Loads this library's classes again, as if some others were not on the class path. A
 * {@link FilteredClassLoader} alone hides those only from who asks for them by name.
 */
public final class ClassPathWithout extends OverridingClassLoader {

	private static final String LIBRARY = "dev.idempotent.";

	static {
		// It is filled once per JVM, from the class path of whoever asks first.
		ContextRegistry.getInstance();
	}

	public ClassPathWithout(String... packages) {
		super(new FilteredClassLoader(packages));
	}

	@Override
	protected boolean isEligibleForOverriding(String className) {
		return className.startsWith(LIBRARY);
	}

}
