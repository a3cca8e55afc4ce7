// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
