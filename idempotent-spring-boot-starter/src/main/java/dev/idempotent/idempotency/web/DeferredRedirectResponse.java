package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.nio.charset.Charset;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.function.Consumer;

import dev.idempotent.idempotency.web.CapturedResponse.Redirect;
import dev.idempotent.idempotency.web.CapturedResponse.SentError;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;

/**
 * A response that defers a redirect, because some containers would send it at once. From
 * then on it behaves like a committed response: its status and headers cannot change.
 */
abstract class DeferredRedirectResponse extends HttpServletResponseWrapper {

	/**
	 * The format of RFC 9110, with two digits for the day.
	 */
	private static final DateTimeFormatter DATE = DateTimeFormatter
		.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
		.withZone(ZoneOffset.UTC);

	private @Nullable Redirect redirect;

	private @Nullable SentError error;

	private final ApplicationHeaders applicationHeaders = new ApplicationHeaders();

	DeferredRedirectResponse(HttpServletResponse response) {
		super(response);
	}

	@Nullable Redirect redirect() {
		return this.redirect;
	}

	void deferRedirect(@Nullable Redirect redirect) {
		this.redirect = redirect;
	}

	@Nullable SentError error() {
		return this.error;
	}

	void setError(@Nullable SentError error) {
		this.error = error;
	}

	/**
	 * Returns whether the application has sent an error.
	 */
	boolean isErrorSent() {
		return this.error != null;
	}

	/**
	 * Returns whether the container will make an error dispatch for the sent error.
	 */
	boolean isErrorPageDue() {
		return isErrorSent() && ErrorDetectingResponse.isErrorSent(this);
	}

	/**
	 * Returns the headers that were set through this response.
	 */
	ApplicationHeaders applicationHeaders() {
		return this.applicationHeaders;
	}

	/**
	 * A committed response ignores headers.
	 */
	private void record(Consumer<ApplicationHeaders> header) {
		if (!isCommitted()) {
			header.accept(this.applicationHeaders);
		}
	}

	private static String format(long date) {
		return DATE.format(Instant.ofEpochMilli(date));
	}

	void requireNoRedirect() {
		if (this.redirect != null) {
			throw new IllegalStateException("The response has been redirected");
		}
	}

	@Override
	public boolean isCommitted() {
		return this.redirect != null || super.isCommitted();
	}

	/**
	 * A wrapper of another filter that handles the error may not have set its status yet.
	 */
	@Override
	public int getStatus() {
		if (this.error != null) {
			return this.error.status();
		}
		return (this.redirect != null) ? this.redirect.status() : super.getStatus();
	}

	@Override
	public void sendRedirect(String location) throws IOException {
		sendRedirect(location, SC_FOUND, true);
	}

	@Override
	public void sendRedirect(String location, int status) throws IOException {
		sendRedirect(location, status, true);
	}

	@Override
	public void sendRedirect(String location, boolean clearBuffer) throws IOException {
		sendRedirect(location, SC_FOUND, clearBuffer);
	}

	@Override
	public abstract void sendRedirect(String location, int status, boolean clearBuffer) throws IOException;

	@Override
	public void setStatus(int status) {
		if (this.redirect == null) {
			super.setStatus(status);
		}
	}

	@Override
	public void setHeader(String name, @Nullable String value) {
		if (this.redirect == null) {
			record((headers) -> headers.set(name, value));
			super.setHeader(name, value);
		}
	}

	@Override
	public void addHeader(String name, String value) {
		if (this.redirect == null) {
			record((headers) -> headers.add(name, value));
			super.addHeader(name, value);
		}
	}

	@Override
	public void setIntHeader(String name, int value) {
		if (this.redirect == null) {
			record((headers) -> headers.set(name, Integer.toString(value)));
			super.setIntHeader(name, value);
		}
	}

	@Override
	public void addIntHeader(String name, int value) {
		if (this.redirect == null) {
			record((headers) -> headers.add(name, Integer.toString(value)));
			super.addIntHeader(name, value);
		}
	}

	@Override
	public void setDateHeader(String name, long date) {
		if (this.redirect == null) {
			record((headers) -> headers.set(name, format(date)));
			super.setDateHeader(name, date);
		}
	}

	@Override
	public void addDateHeader(String name, long date) {
		if (this.redirect == null) {
			record((headers) -> headers.add(name, format(date)));
			super.addDateHeader(name, date);
		}
	}

	@Override
	public void addCookie(Cookie cookie) {
		if (this.redirect == null) {
			super.addCookie(cookie);
		}
	}

	@Override
	public void setContentType(@Nullable String type) {
		if (this.redirect == null) {
			super.setContentType(type);
		}
	}

	@Override
	public void setContentLength(int length) {
		if (this.redirect == null) {
			super.setContentLength(length);
		}
	}

	@Override
	public void setContentLengthLong(long length) {
		if (this.redirect == null) {
			super.setContentLengthLong(length);
		}
	}

	@Override
	public void setCharacterEncoding(@Nullable String encoding) {
		if (this.redirect == null) {
			super.setCharacterEncoding(encoding);
		}
	}

	@Override
	public void setCharacterEncoding(@Nullable Charset encoding) {
		if (this.redirect == null) {
			super.setCharacterEncoding(encoding);
		}
	}

	@Override
	public void setLocale(Locale locale) {
		if (this.redirect == null) {
			super.setLocale(locale);
		}
	}

}
